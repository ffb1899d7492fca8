"""Number systems in which `spec.evaluation` computes index expressions: exact, enclosing, rounding and formal ones."""
