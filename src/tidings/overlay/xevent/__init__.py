"""XEvent on a hash table of peers, simulated (seed 004): documents find the peers whose paths they match.

`records` makes paths and documents of the paper's grammar. `sketch` places paths at the nodes of the sketch tree,
`delivery` links them by covering. `routers` is a transit-stub topology, `ring` a prefix-routing hash table, `peers`
puts the one on the other. `system` and `scribe` carry a document from its publisher to the subscribers; `traffic`
compares them; `recovery` and `rejoining` let peers crash, and `stability` counts who is still reached.
"""
