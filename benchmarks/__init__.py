"""Measurements, each a module to run: `python -m benchmarks.check`, `python -m benchmarks.mypy_plugin`."""
