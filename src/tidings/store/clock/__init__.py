"""Which time is it, and may it be believed? Every time that the store writes comes from here."""
