"""Matches in, notifications under dense cursors out. The sink writes them, owners and the outbox read them."""
