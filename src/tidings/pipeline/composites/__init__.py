"""The second query over the journal: what composites detect, stored with what they wait for.

    journal ──> source ──> leaf_stage ──(by shard)──> shard_stage ──> sink ──> notifications, states

What the tasks found and changed goes to the sink beside Spark where it is much (`shard_done`). `known` is what a worker
knows of the composites; `query` starts and stops all of it; `ticker` makes time go on."""
