"""The HTTP API: the routes of each resource, the shapes of bodies, the documents that describe both."""
