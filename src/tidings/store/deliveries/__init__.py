"""Notifications in, deliveries by channel and results of attempts out. The outbox writes them, owners read them."""
