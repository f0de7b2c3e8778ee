"""The planner: follows the journal and publishes plans.

It keeps one matcher for each shard, tells it every change at its position, and saves what is new; files of segments
that did not change are shared between versions. A plan is made anew from the journal's spans when there is none that
can be used. Only one planner works on a folder: the pipeline that has its lock."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from tidings.language import Filter, Subscription
from tidings.language.normal_form import NO_LIMIT
from tidings.matching.index.box_matcher import BoxMatcher
from tidings.matching.plan.folder import PlanNotSaved, UnusablePlan, open_plan, save_plan
from tidings.pipeline.plans.plan_build import MOST_SHARDS, PlanTooLarge, build, bytes_of, clear_up, shards_for
from tidings.pipeline.plans.plans import Plans, Published, shard_of
from tidings.pipeline.spark.location import LocationUnusable
from tidings.store import Entry, Span, Store

_RHYTHM = 0.1  # seconds between two versions at least
_POLL = 0.02
_UNTIL_NEXT_TRY = 5.0
_KEPT = 60_000  # milliseconds for which older versions are kept, for batches that are on their way
_CLOSING = ("withdraw", "pause", "expire", "edit")


class Planner:
    """`most_bytes` is what the plan of one worker may take; beyond it the plan is split into shards."""

    def __init__(
        self, store: Store, plans: Plans, most_bytes: int | None = None, tell: Callable[[str], None] = lambda _: None
    ) -> None:
        self._store = store
        self._plans = plans
        self._most_bytes = most_bytes
        self._tell = tell
        self._matchers: list[BoxMatcher] = []
        self._saved: list[Path | None] = []  # where each shard was saved last
        self._covers = -1
        self._lock = threading.Lock()  # the pipeline may want it to catch up at once
        self._anew = False
        self._unpublished = False  # whether the matchers know more than the newest version
        self._published: Published | None = None
        plans.folder.mkdir(parents=True, exist_ok=True)

    def begin_anew(self) -> None:
        """What the plan knows may be of a journal that is no more: makes it again, when next it catches up."""
        self._anew = True

    def catch_up(self) -> Published:
        """Publishes what the journal has that the newest version has not. A folder that was deleted is made again."""
        with self._lock:
            return self._caught_up()

    def _caught_up(self) -> Published:
        if self._anew:
            self._anew = False
            self._build()
        elif self._published is None:
            self._open()
        self._apply()
        if self._unpublished or self._published is None or not self._intact(self._published):
            try:
                self._publish()
            except UnusablePlan as problem:  # files that this planner has open were damaged meanwhile
                self._tell(f"{problem}. It is made again from the journal")
                self._discard()
                self._build()
                self._publish()
        assert self._published is not None
        return self._published

    def _intact(self, published: Published) -> bool:
        """Whether workers still find what was published last: pointer and folders may be deleted or damaged."""
        return self._plans.newest() == published and self._plans.exists(published)

    def follow(self, stopped: threading.Event) -> None:
        """Catches up again and again, until told to stop."""
        while not stopped.is_set():
            begun = time.monotonic()
            before = self._published
            try:
                rest = _RHYTHM - (time.monotonic() - begun) if self.catch_up() is not before else _POLL
            except (PlanNotSaved, LocationUnusable) as problem:
                # A full disk may be given room, a network come back; until then no event is passed over, all wait.
                self._tell(str(problem))
                rest = _UNTIL_NEXT_TRY
            stopped.wait(max(rest, 0.001))

    def _open(self) -> None:
        """Goes on with the newest version, if there is one of this journal that can be used."""
        newest = self._plans.newest()
        if newest is None or newest.incarnation != self._store.incarnation() or newest.covers > self._store.tail():
            return self._build()
        paths = [self._plans.path(newest.version, shard) for shard in range(newest.shards)]
        try:
            self._matchers = [open_plan(path) for path in paths]
        except UnusablePlan as problem:
            self._tell(f"{problem}. It is made again from the journal")
            self._discard()
            return self._build()
        for matcher in self._matchers:
            matcher.forget_before(self._store.committed())
        self._saved, self._covers, self._published = [*paths], newest.covers, newest
        return None

    def _discard(self) -> None:
        """Takes the newest version away from the workers, who would find it as unusable as it is."""
        newest = self._plans.newest()
        if newest is not None:
            self._plans.remove(newest.version)

    def _build(self, fewest: int = 1) -> None:
        """All from the spans that some event to come can need. Changes that come while they are read are applied
        afterwards."""
        upto = self._store.tail()
        catalog = self._store.catalog()
        clear_up(self._plans.folder)
        spans = []
        for span in self._store.spans(self._store.committed(), composite=False):
            if span.start > upto:
                break
            spans.append(replace(span, stop=None) if span.stop is not None and span.stop > upto else span)
        shards = fewest
        if self._most_bytes is not None:
            shards = max(fewest, shards_for(catalog, spans, self._most_bytes))
        if shards > max(1, len(self._matchers)):
            self._tell(f"the plan is larger than {self._most_bytes:,} bytes: it is split into {shards} shards")
        built = build(catalog, spans, shards, self._plans.folder)
        self._matchers = [matcher for matcher, _ in built]
        self._saved, self._published = [place for _, place in built], None
        self._covers = upto

    def _apply(self) -> None:
        """Tells the matchers what changed since."""
        upto = self._store.tail()
        if self._store.next_change(self._covers) is not None:
            opened = {span.start: span for span in self._store.spans_opened(self._covers, upto)}
            for entry in self._store.changes(self._covers, upto):
                self._apply_one(entry, opened.get(entry.position))
                self._unpublished = True
        self._covers = upto

    def _apply_one(self, entry: Entry, opened: Span | None) -> None:
        """One change; `opened` is the span that begins at its position, if one does."""
        if entry.kind in ("quota", "profile"):
            return  # workers and the sink read quotas from the store, and stored composites have no profile
        if entry.kind == "schema":
            catalog = self._store.catalog()  # the newest serves for all positions: growth changes no meaning
            for matcher in self._matchers:
                if matcher.catalog.version < catalog.version:
                    matcher.adopt(catalog)
            return
        id = json.loads(entry.body)["id"]
        matcher = self._matcher_of(id)
        # One that was paused is closed already, and an edit that opens no span closes none.
        if entry.kind in _CLOSING and (opened is not None or entry.kind != "edit") and matcher.spans.is_active(id):
            matcher.withdraw(id, entry.position)
        if opened is not None and not opened.composite:
            filter = Filter.parse(opened.filter, matcher.catalog, NO_LIMIT)
            matcher.add(Subscription(id, filter), entry.position, opened.owner)

    def _matcher_of(self, id: str) -> BoxMatcher:
        return self._matchers[shard_of(id, len(self._matchers))]

    def _publish(self) -> None:
        version = self._plans.next_version(self._store.clock.now() // 1_000)
        committed = self._store.committed()
        paths = []
        for shard, matcher in enumerate(self._matchers):
            matcher.forget_before(committed)
            base = self._saved[shard]
            paths.append(self._plans.path(version, shard))
            save_plan(matcher, paths[-1], base if base is not None and base.is_dir() else None)
        if self._most_bytes is not None and max(map(bytes_of, paths)) > self._most_bytes:
            self._plans.remove(version)
            return self._split()
        self._published = Published(
            version,
            self._covers,
            len(self._matchers),
            self._store.incarnation(),
            self._store.fingerprint(self._covers),
        )
        self._plans.publish(self._published)
        self._unpublished = False
        self._plans.sweep(version - _KEPT)
        self._saved = [*paths]
        clear_up(self._plans.folder)
        return None

    def _split(self) -> None:
        """The plan has grown, or the estimate was wrong: at least twice as many shards."""
        assert self._most_bytes is not None
        shards = 2 * len(self._matchers)
        if shards > MOST_SHARDS:
            raise PlanTooLarge(self._most_bytes, MOST_SHARDS)
        self._build(shards)
        self._publish()
