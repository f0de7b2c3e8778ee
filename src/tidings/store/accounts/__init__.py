"""What the service keeps beside the journal: accounts, tokens, and responses to requests that may be sent again."""
