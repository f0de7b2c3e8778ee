"""What of the reference follows from the code, one module a page; `scripts/reference` puts it into docs/."""
