"""Subscriptions move from one server to another: `offers` is the old server's side, `moving_in` the new one's."""
