"""What a feed remembers, within a run and across runs."""
