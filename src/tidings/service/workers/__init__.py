"""Processes beside the service: pipeline and outbox, and those that answer questions and run large queries."""
