"""Removes old entries and deliveries, a bounded piece at a time. `Retention` and the outbox call it through `Store`."""
