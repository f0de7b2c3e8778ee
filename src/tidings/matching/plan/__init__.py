"""A matcher on disk: segments, subscription ids and closings as Arrow files, written once and memory-mapped."""
