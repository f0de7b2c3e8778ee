"""Composite events: patterns in time whose leaves are filters. Text to tree and back; what an instance of a node is,
is said at its class in `tree`."""
