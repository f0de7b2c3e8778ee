"""The streaming query over the journal: stretches of positions in, notifications in the store out.

    source ──> stage (tasks match and stage chunks) ──> rounds ──> sink

`Pipeline` starts it through `queries`. `attempts`, `match_parts`, `staging` and `chunks` bound the composites' query,
too.
"""
