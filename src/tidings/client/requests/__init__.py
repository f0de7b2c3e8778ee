"""Every request of the API as a value: what is sent, and how its answer is read. The two clients send them."""
