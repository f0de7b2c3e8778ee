"""The pipeline as one running thing: the planner beside it, ingest queries before it, the journal's query, that of
composites, its progress.

    with Pipeline(settings) as pipeline:
        pipeline.run(stopped, once=False, watch=print)

It holds the data folder's lock from beginning to end, and the store's lease while it matches the journal. Whatever
kills it, the next one goes on at the committed position."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from types import TracebackType
from typing import TYPE_CHECKING
from zlib import crc32

from tidings.errors import Explained, PipelineError, TidingsError
from tidings.pipeline.batch.copies import Copies
from tidings.pipeline.composites.query import CompositeQuery
from tidings.pipeline.composites.ticker import keep_ticking
from tidings.pipeline.direct.direct import NewestPlan, start_direct
from tidings.pipeline.direct.match_sinks import MatchSink, parse_sink
from tidings.pipeline.folder import DataFolder
from tidings.pipeline.ingest.ingest import packages_for, parse_source, start_ingest
from tidings.pipeline.lease import PipelineLease
from tidings.pipeline.pipeline_settings import PipelineSettings, Progress
from tidings.pipeline.plans.planner import Planner
from tidings.pipeline.plans.plans import Plans
from tidings.pipeline.plans.restored_journal import was_put_back
from tidings.pipeline.plans.shared_plans import PlanUploads
from tidings.pipeline.spark.java_ended import java_watched
from tidings.pipeline.spark.location import location_of
from tidings.pipeline.spark.session import LocalStoreOnly, check_reach, has_local_workers, is_local, spark_session
from tidings.pipeline.stream.attempts import Stopped
from tidings.pipeline.stream.queries import JOURNAL, failed, is_gap, reason, rows_per_second, start_matching
from tidings.pipeline.stream.sink import Sink
from tidings.pipeline.stream.staging import StagedFiles, StagedRows
from tidings.pipeline.word_counts import keep_counting
from tidings.store import ClockJumped, Gap, Retention, Store
from tidings.store.notifications.progress import COMPOSITES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming import StreamingQuery

__all__ = ["Pipeline", "PipelineSettings", "Progress", "QueryFailed"]
_LOOK = 0.25  # seconds between two looks at the queries
_PATIENCE = 15.0  # seconds that a stop waits for the batch that is under way


class QueryFailed(Explained, PipelineError):
    """A query of Spark's ended with an error: its name, and what Spark said."""

    query: str
    said: str
    template = "the query {query!r} failed and nothing of its last batch was committed: {said}"


class Pipeline:
    def __init__(self, settings: PipelineSettings, tell: Callable[[str], None] = lambda _: None) -> None:
        self.settings = settings
        self.folder = DataFolder(settings.data, settings.checkpoints)
        self._sources = [parse_source(text, settings.values_per_attribute) for text in settings.sources]
        self._direct_to = parse_sink(settings.direct_to) if settings.direct_to else None
        self._tell = tell
        self._stopped = threading.Event()  # of the planner
        self._planner_problem: Exception | None = None
        self._is_clock_wrong = False
        self._waits_for = ""
        self._composites: CompositeQuery | None = None

    def __enter__(self) -> Pipeline:
        self.folder.lock()
        try:
            self.store = Store.open(self.settings.store or self.folder.database)
            if self.store.url.startswith("sqlite") and not is_local(self.settings.master):
                raise LocalStoreOnly(self.settings.master)
            self.lease = PipelineLease(self.store, self.settings.data)
            self.plans = Plans(self.folder.plans.absolute())
            self.planner = Planner(self.store, self.plans, self.settings.plan_limit, self._tell)
            self.sink = Sink(self.store, self.plans, StagedFiles(self.folder.staged.absolute()))
            own = [JOURNAL, *(_named("ingest", text) for text in self.settings.sources)]
            for query in self._direct_names() if self._direct_to else own:
                self._checkpoint(query)
        except BaseException:
            self.folder.unlock()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stopped.set()
        self.store.close()
        self.folder.unlock()

    def run(
        self, stopped: threading.Event, once: bool = False, watch: Callable[[Progress], None] = lambda _: None,
        spark: SparkSession | None = None,
    ) -> None:  # fmt: skip
        """Until told to stop or, once, until all that is there now is done. `spark` is a session of the caller's, also
        one of Spark Connect; the pipeline leaves it running. Where another pipeline works on the store, this one waits
        until that ends. Raises LocalStoreOnly; StoreInUse where another took over or, once, is at work."""
        if not self._direct_to and not self.lease.take(stopped, once, lambda holder: self._wait_for(holder, watch)):
            return
        try:
            self._begin()
            self._run(stopped, once, watch, spark)
        finally:
            self.lease.give_back()

    def _wait_for(self, holder: str, watch: Callable[[Progress], None]) -> None:
        if holder != self._waits_for:
            self._tell(f"another pipeline works on this store ({holder}); this one takes over when it ends")
            self._waits_for = holder
        watch(Progress(self.store.tail(), self.store.committed(), (), 0.0, waits_for=holder))

    def _begin(self) -> None:
        """What only the pipeline at work may do."""
        if changed := self.store.renew_text_versions():
            self._tell(changed)
        was_older = was_put_back(self.store, self.plans)
        if was_older:
            self.store.renew_incarnation()
        if not self._direct_to and was_older:
            self._set_aside("the store was put back from an older copy")

    def _run(
        self, stopped: threading.Event, once: bool, watch: Callable[[Progress], None], spark: SparkSession | None
    ) -> None:
        planner = threading.Thread(target=self._plan, name="planner", daemon=True)
        retention = threading.Thread(target=self._retain, name="retention", daemon=True)
        copies = threading.Thread(target=self._copy, name="copies", daemon=True)
        ticker = threading.Thread(target=self._tick, name="ticker", daemon=True)
        words = threading.Thread(target=self._count_words, name="words", daemon=True)
        if self._direct_to:
            self._expire()
        if not self.settings.plans:  # else Spark's settings say how to reach the plans' location
            planner.start()  # builds the first plan while Java starts
        try:
            with self._session(spark) as session:
                self._prepare(session)
                self.planner.catch_up()
                beside = (
                    [planner] if once else [planner, retention, *([] if self._direct_to else [copies, ticker, words])]
                )
                for thread in beside:
                    if thread.ident is None:
                        thread.start()
                if self._direct_to:
                    self._watch(self._direct(session, self._direct_to, once), stopped, watch)
                else:
                    self._match(session, stopped, once, watch)
        finally:
            self._stopped.set()
            for thread in (planner, retention, copies, ticker, words):
                if thread.is_alive():
                    thread.join()

    def _prepare(self, session: SparkSession) -> None:
        check_reach(self.store.url, session)
        if not has_local_workers(session):  # which share no folder with this process
            self.sink.staging = StagedRows(self.store.url)
        if not self._direct_to:
            self.sink.staging.sweep("")  # what other pipelines left: this one has the lease
        if self.settings.plans:
            self.plans.uploads = PlanUploads(
                location_of(self.settings.plans, lambda name: session.conf.get(name, None))
            )

    @contextmanager
    def _session(self, given: SparkSession | None) -> Iterator[SparkSession]:
        """The caller's, or one of our own, which ends with us."""
        if given is not None:
            with java_watched(given):
                yield given
            return
        places = [*self._sources, *([self._direct_to] if self._direct_to else [])]
        packages = dict.fromkeys(name for place in places for name in packages_for(place))
        own = {"spark.jars.packages": ",".join(packages)} if packages else {}
        # Spark puts a handler of its own in place, which would cancel the batch under way; ours lets it finish.
        before = signal.getsignal(signal.SIGINT)
        session = spark_session(self.settings.master, settings=own | dict(self.settings.spark))
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, before)
        with java_watched(session):
            try:
                yield session
            finally:
                session.stop()

    def _ingest(self, session: SparkSession, once: bool) -> list[StreamingQuery]:
        return [
            start_ingest(session, self.store.url, source, self._checkpoint(_named("ingest", text)), once)
            for source, text in zip(self._sources, self.settings.sources, strict=True)
        ]

    def _direct(self, session: SparkSession, sink: MatchSink, once: bool) -> list[StreamingQuery]:
        newest = NewestPlan(self.plans.for_workers())
        return [
            start_direct(session, newest, source, sink, self._checkpoint(name), once, store_url=self.store.url)
            for source, name in zip(self._sources, self._direct_names(), strict=True)
        ]

    def _direct_names(self) -> list[str]:
        return [_named("direct", f"{text} {self.settings.direct_to}") for text in self.settings.sources]

    def _match(
        self, session: SparkSession, stopped: threading.Event, once: bool, watch: Callable[[Progress], None]
    ) -> None:
        """Ingest, and the journal's query. Where a checkpoint is ahead of the store (which was put back from an older
        copy, say), events would be left out. The store knows better: all checkpoints are set aside, and the plan, which
        may know what is no longer so, is made anew."""
        while True:
            others = self._ingest(session, once)
            if once:
                self._watch(others, stopped, watch)
                self.planner.catch_up()
                others = []
            checkpoint, most, holder = self._checkpoint(JOURNAL), self.settings.most_rows, self.lease.holder
            query = start_matching(session, self.store.url, self.plans, self.sink, checkpoint, most, once, holder)
            composites = self._composite_query(session)
            if once:
                others = [one for one in [composites.run_once()] if one is not None]
            else:
                self._composites = composites
            try:
                return self._watch([query, *others], stopped, watch)
            except (Gap, QueryFailed) as problem:
                if isinstance(problem, QueryFailed) and not is_gap(query):
                    raise
                self.store.renew_incarnation()
                self._set_aside(str(problem))
                self.planner.begin_anew()
                self.sink.problem = None
                self.sink.stopping.clear()

    def _composite_query(self, session: SparkSession) -> CompositeQuery:
        return CompositeQuery(
            session,
            self.store,
            self.settings.lateness,
            self.lease.holder,
            self.sink.staging,
            lambda: self._checkpoint(COMPOSITES),
            lambda: self.folder.set_aside(COMPOSITES, self.store.id),
            self._tell,
            self.settings.waiting_instances,
        )

    def _tick(self) -> None:
        keep_ticking(self.store, self.settings.lateness, self._stopped)

    def _count_words(self) -> None:
        keep_counting(self.store, self._stopped)

    def _set_aside(self, why: str) -> None:
        names = [JOURNAL, COMPOSITES, *(_named("ingest", text) for text in self.settings.sources)]
        for name in names:
            self._checkpoint(name)
        aside = [self.folder.set_aside(name, self.store.id) for name in names]
        self._tell(f"{why}. Checkpoints are ahead of the store and were set aside: {', '.join(aside)}")

    def _expire(self) -> None:
        """For direct matching, which appends nothing else: what has expired by now leaves the plan."""
        try:
            self.store.append([])
            self._is_clock_wrong = False
        except ClockJumped as problem:
            if not self._is_clock_wrong:
                self._tell(str(problem))
            self._is_clock_wrong = True

    def _plan(self) -> None:
        try:
            self.planner.follow(self._stopped)
        except Exception as problem:
            self._planner_problem = problem

    def _retain(self) -> None:
        """Beside the matching, since whatever is removed was matched first."""
        Retention(self.store, self.settings.keep).run(self._stopped)

    def _copy(self) -> None:
        """In quiet moments, so that the first query over stored events is quick."""
        Copies(self.store).run(self._stopped)

    def _watch(
        self, queries: list[StreamingQuery], stopped: threading.Event, watch: Callable[[Progress], None]
    ) -> None:
        """Until all queries have ended, one has failed, or the pipeline is stopped."""
        looked = time.monotonic()
        while any(query.isActive for query in queries) and not failed(queries):
            ended = stopped.wait(_LOOK)
            if self._direct_to:
                self._expire()
            if self._composites is not None:
                self._composites.look()
            now = time.monotonic()
            watch(self._progress(now - looked, rows_per_second(queries)))
            looked = now
            if ended or self._planner_problem is not None or self.lease.lost is not None:
                break
        if self._composites is not None:
            self._composites.stop()
        for query in queries:
            self._stop(query)
        for problem in (self._planner_problem, self.lease.lost):
            if problem is not None:
                raise problem
        if isinstance(self.sink.problem, Stopped):  # as it was asked to; what is left is matched at the next start
            queries = [query for query in queries if query.name != JOURNAL]
        elif isinstance(self.sink.problem, TidingsError):
            raise self.sink.problem
        for query in failed(queries):
            raise QueryFailed(query.name, reason(query))

    def _progress(self, seconds: float, rows: float) -> Progress:
        store = self.store
        done = Progress(store.tail(), store.committed(), self.sink.taken(), seconds, rows)
        composites = store.composite_progress()
        return done if composites is None else replace(done, composites=composites.committed, late=composites.late)

    def _stop(self, query: StreamingQuery) -> None:
        """Lets the batch under way finish, if it does not take too long; what is cut off is run again at the next
        start."""
        committed, deadline = self.store.committed(), time.monotonic() + _PATIENCE
        while query.isActive and query.status["isTriggerActive"] and time.monotonic() < deadline:
            if self.store.committed() > committed:
                break
            time.sleep(0.02)
        if query.name == JOURNAL:
            self.sink.stopping.set()
        query.stop()

    def _checkpoint(self, query: str) -> str:
        return self.folder.checkpoint(query, self.store.id)


def _named(what: str, text: str) -> str:
    """A checkpoint's name: what the text says may be no name of a folder."""
    return f"{what}-{crc32(text.encode()):08x}"
