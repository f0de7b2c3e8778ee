"""Commands that open a store themselves."""
