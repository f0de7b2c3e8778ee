"""Ready mappings for formats that many publish: which one fits a source, and what it makes of it."""
