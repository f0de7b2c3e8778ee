"""Questions: explain and test a filter or a composite, search stored events, run queries in the background."""
