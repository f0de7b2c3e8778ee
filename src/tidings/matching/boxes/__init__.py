"""Filters as boxes, events as points: both become small integers in flat arrays.

Turns bound filters and event batches into a `BoxTable` and an `EventTable`, which every index reads."""
