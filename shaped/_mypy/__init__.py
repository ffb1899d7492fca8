"""The parts of the mypy plugin: error codes, dependency records, findings as mypy errors, types of module calls."""
