"""Forms: what they offer, what was typed into them, and proof that they came from our page."""
