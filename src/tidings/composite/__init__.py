"""Composite events: what happened over time. Composites and the events that match their leaves come in, detections go
out. Free of Spark.

`oracle` is the specification: one composite over a whole trace. `detector` gives the same detections while the events
still arrive, from a bounded state."""
