"""How subscribers are told: channels, their notices and confirmations, and the deliveries made over them."""
