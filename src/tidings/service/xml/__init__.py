"""The thesis's notification daemon: XML requests over TCP."""
