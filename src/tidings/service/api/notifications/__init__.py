"""Reading matches: page by page, waiting for the next, or as a stream of server-sent events."""
