"""The second query over the journal: what composites detect, stored with what they wait for.

    journal ──> source ──> leaf_stage ──(by shard)──> shard_stage ──> sink ──> notifications, states

`known` is what a worker knows of the composites; `query` starts and stops all of it; `ticker` makes time go on."""
