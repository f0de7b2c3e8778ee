"""The thesis's XML over TCP."""
