"""From bytes to records, and from what stands in a record to the value of an event."""
