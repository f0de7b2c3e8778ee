"""Queries of the web pages: newest first, a page at a time. Each function takes a `Store`."""
