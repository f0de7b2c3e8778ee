"""Sources that ship with Tidings: made-up auctions and real flights."""
