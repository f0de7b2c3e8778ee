"""Many events at once: arrays and streams in, each event validated, appended in groups, a result for each out."""
