"""Whether a gradient is right: proofs for every size, exact checks, enclosures, error budgets, hazards of floats."""
