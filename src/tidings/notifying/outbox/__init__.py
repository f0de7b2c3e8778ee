"""Deliveries that are due in, attempts through channels, results out to the store: with retries, rhythm and limits."""
