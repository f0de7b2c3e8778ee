"""`tidings demo`: the service with feeds, people and subscriptions, so that there is something to see at once.

`showing` is the service's side: settings, accounts, banner. `feeding` is the child process beside it (`__main__`): it
grows the schema, leaves the subscriptions of `wishes` standing and publishes cars, bids, flights and weather.
"""
