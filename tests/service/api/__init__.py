"""The HTTP API, route by route."""
