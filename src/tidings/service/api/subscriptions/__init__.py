"""Subscriptions of one account: one at a time, or many as a file."""
