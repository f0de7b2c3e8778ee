"""XML documents as values: what makes one valid, its canonical form, and the grammars that a domain may have."""
