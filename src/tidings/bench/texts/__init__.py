"""Benchmarks of texts: similarity beside scipy, texts made to be slow; and the texts of the report."""
