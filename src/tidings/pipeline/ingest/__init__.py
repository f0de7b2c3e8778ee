"""Events of folders and Kafka topics in, entries of the journal out; refused events become dead letters."""
