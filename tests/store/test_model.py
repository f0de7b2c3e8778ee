"""Random drafts: the store agrees with a plain model, and with itself rebuilt, exported and imported."""

import shutil
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.store.samples import SCHEMA, START, Clock, projections, publish
from tidings.schema import Instant
from tidings.schema.growth import AppendValue
from tidings.store import (
    KEEP,
    Accepted,
    Draft,
    Duplicate,
    Edit,
    Grow,
    Pause,
    Publish,
    Refused,
    Resume,
    Span,
    Store,
    Subscribe,
    Withdraw,
    export_journal,
    import_journal,
    rebuild,
)

IDS = st.sampled_from(["a", "b", "c"])
FILTERS = st.sampled_from(["price < 3", "price < 4", "brand = 'red'", "nonsense"])
COMPOSITES = st.sampled_from(["[price < 3] before [brand = 'red'] within 1 min", "[price < 3] before [price > 4]"])
WORDS = st.sampled_from(["red", "green"])


@st.composite
def subscribes(draw: st.DrawFn) -> Subscribe:
    expiry = draw(st.none() | st.integers(0, 30))
    owner = draw(st.sampled_from(["", "ann", "bob"]))
    until = None if expiry is None else Instant(START + expiry * 1_000_000)
    if draw(st.booleans()):
        return Subscribe(draw(IDS), owner=owner, expiry=until, composite=draw(COMPOSITES))
    return Subscribe(draw(IDS), draw(FILTERS), owner, until)


@st.composite
def edits(draw: st.DrawFn) -> Edit:
    expiry = draw(
        st.just(KEEP) | st.none() | st.integers(0, 30).map(lambda seconds: Instant(START + seconds * 1_000_000))
    )
    filter, composite = draw(st.none() | FILTERS), draw(st.none() | COMPOSITES)
    return Edit(draw(IDS), filter, expiry, draw(st.sampled_from([KEEP, "", "post"])), composite=composite)


DRAFTS: st.SearchStrategy[Draft] = st.one_of(
    subscribes(),
    st.builds(Withdraw, IDS),
    st.builds(Pause, IDS),
    st.builds(Resume, IDS),
    edits(),
    st.builds(lambda word: Grow(AppendValue("brand", word)), WORDS),
    st.builds(lambda id, word: publish(id, brand=word), st.sampled_from("xyz"), st.sampled_from(["mini", "red"])),
)
# Groups, and how many seconds pass before each.
GROUPS = st.lists(st.tuples(st.integers(0, 10), st.lists(DRAFTS, max_size=6)), max_size=8)


@dataclass
class Model:
    """The rules as plainly as they can be said; it answers 'accepted', 'duplicate' or 'refused'."""

    tail: int = 5
    words: set[str] = field(default_factory=lambda: {"mini", "opel"})
    events: dict[str, int] = field(default_factory=dict)
    filters: dict[str, tuple[str, bool]] = field(default_factory=dict)  # with whether it is a composite
    owners: dict[str, str] = field(default_factory=dict)
    expiries: dict[str, int] = field(default_factory=dict)
    spans: list[list[object]] = field(default_factory=list)

    def open_span(self, id: str) -> list[object] | None:
        return next((span for span in self.spans if span[0] == id and span[2] is None), None)

    def close(self, id: str) -> None:
        span = self.open_span(id)
        if span:
            span[2] = self.tail

    def forget(self, id: str) -> None:
        self.tail += 1
        self.close(id)
        del self.filters[id]
        self.expiries.pop(id, None)

    def expire(self, now: int) -> None:
        for _, id in sorted((at, id) for id, at in self.expiries.items() if at <= now):
            self.forget(id)

    def legal(self, text: str) -> bool:
        framed = "before" not in text or "within" in text
        return text != "nonsense" and framed and ("red" not in text or "red" in self.words)

    def open(self, id: str) -> None:
        text, composite = self.filters[id]
        self.spans.append([id, self.tail, None, text, self.owners[id], composite])

    def decide(self, draft: Draft, now: int) -> str:
        match draft:
            case Publish(raw):
                assert isinstance(raw, dict)
                if raw["attributes"]["brand"] not in self.words:
                    return "refused"
                if raw["id"] in self.events:
                    return "duplicate"
                self.tail += 1
                self.events[raw["id"]] = self.tail
            case Grow(AppendValue(_, word)):
                if word in self.words:
                    return "refused"
                self.tail += 1
                self.words.add(word)
            case Subscribe(id, filter, owner, expiry):
                text = filter or draft.composite
                if id in self.filters or not self.legal(text) or (expiry is not None and expiry <= now):
                    return "refused"
                self.tail += 1
                self.filters[id] = text, not filter
                if expiry is not None:
                    self.expiries[id] = expiry
                self.owners[id] = owner
                self.open(id)
            case Withdraw(id):
                if id not in self.filters:
                    return "refused"
                self.forget(id)
            case Pause(id):
                if not self.open_span(id):
                    return "refused"
                self.tail += 1
                self.close(id)
            case Resume(id):
                if id not in self.filters or self.open_span(id):
                    return "refused"
                self.tail += 1
                self.open(id)
            case Edit(id, changed, expiry, delivery):
                if changed is not None and draft.composite is not None:
                    return "refused"
                text = draft.composite if changed is None else changed
                nothing = text is None and expiry is KEEP and delivery is KEEP
                passed = isinstance(expiry, Instant) and expiry <= now
                if id not in self.filters or nothing or passed or not (text is None or self.legal(text)):
                    return "refused"
                self.tail += 1
                if expiry is None:
                    self.expiries.pop(id, None)
                elif isinstance(expiry, Instant):
                    self.expiries[id] = expiry
                if text is not None:
                    self.filters[id] = text, changed is None
                    if self.open_span(id):
                        self.close(id)
                        self.open(id)
            case _:
                raise AssertionError(draft)
        return "accepted"


NAMES = {Accepted: "accepted", Duplicate: "duplicate", Refused: "refused"}


def check(store: Store, clock: Clock, groups: list[tuple[int, list[Draft]]]) -> None:
    store.append(SCHEMA)
    model = Model()
    for seconds, drafts in groups:
        now = clock.tick(seconds)
        model.expire(now)
        expected = [model.decide(draft, now) for draft in drafts]
        assert [NAMES[type(outcome)] for outcome in store.append(drafts)] == expected
    assert store.tail() == model.tail
    assert list(store.spans()) == [Span(*span) for span in model.spans]  # type: ignore[arg-type]
    for composite in (False, True):
        assert list(store.spans(composite=composite)) == [one for one in store.spans() if one.composite is composite]
    assert {one.id: (one.filter, one.composite) for one in store.subscriptions()} == model.filters
    owned = Counter(owner for id in model.filters if (owner := model.owners[id]))
    assert {owner: store.count_subscriptions(owner) for owner in owned} == owned
    active = sum(span[2] is None for span in model.spans)
    assert (store.figures().active, store.figures().paused) == (active, len(model.filters) - active)
    assert {one.id: one.expiry for one in store.subscriptions() if one.expiry is not None} == model.expiries
    before = projections(store)
    assert [position for _, position in before["keys"]] == list(model.events.values())  # type: ignore[attr-defined]
    rebuild(store)
    assert projections(store) == before


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store to copy: its tables are made once."""
    path = tmp_path_factory.mktemp("empty") / "tidings.db"
    Store.open(path).close()
    return path


@settings(max_examples=60)
@given(GROUPS)
def test_the_store_agrees_with_the_model_and_with_itself_rebuilt(
    empty: Path, groups: list[tuple[int, list[Draft]]]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        clock = Clock()
        for name in ("tidings.db", "other.db"):
            shutil.copy(empty, Path(folder) / name)
        with Store.open(Path(folder) / "tidings.db", clock) as store:
            check(store, clock, groups)
            export_journal(store, Path(folder) / "journal.jsonl")
            with Store.open(Path(folder) / "other.db", clock) as other:
                import_journal(Path(folder) / "journal.jsonl", other)
                assert projections(other) == projections(store)
                assert list(other.entries()) == list(store.entries())


def test_one_long_history_on_either_database(store: Store, clock: Clock) -> None:
    words = [Grow(AppendValue("brand", "red")), Subscribe("a", "brand = 'red'", expiry=Instant(START + 3_000_000))]
    pair = "[price < 3] before [brand = 'red'] within 1 min"
    changes: list[Draft] = [Subscribe("b", "price < 3"), Pause("a"), Edit("a", "price < 4"), Resume("a"), Resume("a")]
    changes += [Subscribe("c", composite=pair), Edit("b", composite=pair), Edit("c", "price < 3")]
    again: list[Draft] = [
        publish("x", brand="red"),
        publish("x", brand="red"),
        Withdraw("b"),
        Subscribe("b", "price < 4"),
    ]
    check(store, clock, [(1, words), (0, changes), (1, again), (1, []), (9, [Subscribe("a", "price < 3"), *again])])
