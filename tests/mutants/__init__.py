"""Small faults, each of which the quick tests of its room must notice: `python -m tests.mutants [NAME …]`."""
