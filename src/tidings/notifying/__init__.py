"""What is owed to subscribers, and how it gets to them: channels, the outbox, retries."""
