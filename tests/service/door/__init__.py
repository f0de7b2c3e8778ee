"""The door: limits, authentication, scopes, bodies, idempotency."""
