"""The data pipeline on Spark: the planner, the journal as a streaming source, matching, the sink, ingest, batch
jobs."""
