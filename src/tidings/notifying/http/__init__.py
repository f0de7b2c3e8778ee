"""A small HTTP client for untrusted receivers: a vetted address and a request in, a response out."""
