"""Batch jobs: files, DataFrames and stored events in, matches out. `tidings.spark` and `tidings match` call it."""
