"""Where the bytes of a feed come from."""
