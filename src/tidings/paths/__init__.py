"""The language of paths, a subset of XPath 1.0: text to tree and back, warnings, covering. Standard library only."""
