"""A journal as a file and back, and its projections rebuilt. `tidings journal` calls it."""
