"""Filters as boxes, events as points: both become small integers in flat arrays.

In come bound filters and event batches; out go a `BoxTable` and an `EventTable`, which every index reads."""
