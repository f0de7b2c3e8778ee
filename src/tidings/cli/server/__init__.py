"""Commands that ask a server."""
