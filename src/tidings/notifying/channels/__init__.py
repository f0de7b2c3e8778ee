"""Kinds of channel: an `OutgoingDelivery` in, an `Attempt` out. The outbox sends, the service checks settings."""
