"""What is owed to subscribers, and how it gets to them.

`outbox` decides what to send and when, `channels` send it, through `http` and `mail`. `delivery` is what they hand to
each other. Receivers of webhooks need `signatures` alone.
"""
