"""A server in a network of servers: drives the machine of `tidings.overlay` with a store, a clock and HTTP.

    journal ──> follower ──> machine ──> postman ──> neighbours
    neighbours ──> gateway ──> local door ──> machine ──> journal

`node` brings the parts together; `wire` says how messages are written; `engine_filters` gives the machine the filters
of the language, matched by the engine.
"""
