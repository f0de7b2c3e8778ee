"""A network of servers, free of I/O: what comes in is a message, a command or a tick; what goes out are messages to
neighbours, changes to store, and answers (`receive` in `machine`). A driver stores the changes, each in one
transaction and in their order, before it sends the messages.

`values`, `messages` and `durable` name what travels and what survives a crash. `links` keeps link states and the tree,
`interests` what each neighbour is sent, `forwarding` moves events along the tree, `repair` fetches what was missed,
`orders` is the log of the home, `moves` takes subscriptions to another server. `simulation` drives the same machine
over a modelled network.
"""
