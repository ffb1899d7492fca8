"""The documentation; `python -m docs.generate` writes the page that is made from the code."""
