"""What can be known of filters without an event: which values they allow, whether they can match, cover or overlap."""
