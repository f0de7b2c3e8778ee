"""Many paths against a batch of documents: paths in, the numbers of those that hold out."""
