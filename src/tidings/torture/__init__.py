"""A service under blows: clients use it, its processes are killed, and from a record of what the clients were told it
is decided whether every promise was kept.

    clients, receiver ──> Record ──owing──> who must have been told of what ──checking──> Verdict

Nothing here asks the service's own code what is right: filters are ranges of numbers, whose truth the record knows.
`running.torture` does all of it; `tidings torture` shows the verdict."""
