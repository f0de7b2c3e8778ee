"""Spark SQL: the same range join, in a local session."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy as np
import pyarrow as pa

from tidings.bench.grid import Grid
from tidings.bench.peers.duckdb_join import conditions, event_columns, filter_columns
from tidings.bench.results import Counts


class SparkJoin:
    name = "spark-sql"
    what = "Spark SQL, a join by ranges"
    most = None
    extrapolated = True

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self.session: Any = None

    def unavailable(self) -> str | None:
        return None if find_spec("pyspark") else "not installed: pip install pyspark"

    def unable(self, grid: Grid) -> str | None:
        return None

    def load(self, grid: Grid) -> None:
        from pyspark.sql import SparkSession

        self.session = (
            SparkSession.builder.master(f"local[{self.threads}]")
            .config("spark.ui.enabled", "false")
            .config("spark.ui.showConsoleProgress", "false")
            .config("spark.sql.shuffle.partitions", self.threads)
            .config("spark.sql.execution.arrow.pyspark.enabled", "true")
            .getOrCreate()
        )
        self.session.sparkContext.setLogLevel("ERROR")
        for name, columns in (("filters", filter_columns(grid)), ("events", event_columns(grid))):
            frame = self.session.createDataFrame(pa.table(columns)).cache()
            frame.count()
            frame.createOrReplaceTempView(name)
        joined = " and ".join(f"e.e{place} {sign} f.{column}" for place, sign, column in conditions(grid))
        self.query = f"select /*+ broadcast(e) */ e.e, f.s from events e join filters f on {joined} where "

    def counts(self, first: int, last: int) -> Counts:
        found = self.session.sql(f"{self.query} e.e >= {first} and e.e < {last}").toArrow()
        return np.bincount(found["e"].to_numpy() - first, minlength=last - first)

    def close(self) -> None:
        if self.session is not None:
            self.session.stop()
