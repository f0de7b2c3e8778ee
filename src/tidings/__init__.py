"""Tidings: content-based publish/subscribe. Standing filters are matched against a stream of events."""

__version__ = "0.1.0"
