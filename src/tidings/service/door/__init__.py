"""The door: what every request passes, in this order: places, rate limits, authentication, scope, body, idempotency."""
