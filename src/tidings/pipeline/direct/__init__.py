"""Direct matching, past the journal: events of a folder or Kafka topic in, matches out."""
