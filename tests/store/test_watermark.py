"""The watermark is a function of the position: appended, exported, imported and rebuilt alike."""

from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.services.sqlite import new_store
from tests.store.batches import commit_batch
from tests.store.samples import START, Clock, publish, with_schema
from tests.store.test_notifications import table
from tidings.schema import Instant
from tidings.store import Store, Subscribe, export_journal, import_journal, rebuild


def marks(store: Store, upto: int | None = None) -> list[Instant | None]:
    return [store.watermark_at(position) for position in range(1, (upto or store.tail()) + 1)]


def at(seconds: float) -> Instant:
    return Instant(START + int(seconds * 1_000_000))


def test_it_is_the_latest_occurrence_so_far(store: Store, clock: Clock) -> None:
    with_schema(store)
    store.append([publish("e1", time=str(at(-100))), publish("e2", time=str(at(-200))), Subscribe("s", "price < 3")])
    clock.tick(10)
    store.append([publish("e3"), publish("e4", time=str(at(60))), publish("e5")])
    assert marks(store) == [None] * 5 + [at(-100), at(-100), at(-100), at(10), at(60), at(60)]
    assert store.watermark_at(99) == at(60)


def test_times_before_1970_count_as_they_are(store: Store) -> None:
    with_schema(store).append([publish("e1", time="1912-04-15T00:00:00Z")])
    assert store.watermark_at(6) == Instant.parse("1912-04-15T00:00:00Z")


TIMES = st.lists(st.none() | st.integers(-1_000, 250), min_size=1, max_size=30)


@given(TIMES, st.integers(0, 30))
@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_export_import_trim_and_rebuild_keep_it(
    tmp_path_factory,
    times: list[int | None],
    removed: int,  # type: ignore[no-untyped-def]
) -> None:
    folder: Path = tmp_path_factory.mktemp("watermark")
    clock = Clock()
    with Store.open(new_store(folder / "a.db"), clock) as store:
        with_schema(store)
        for number, time in enumerate(times):
            clock.tick()
            store.append([publish(f"e{number}", **({} if time is None else {"time": str(at(time))}))])
        before = marks(store)
        expected: int | None = None
        for number, time in enumerate(times):
            occurred = at(number + 1) if time is None else at(time)
            expected = occurred if expected is None else max(expected, occurred)
            assert before[5 + number] == expected
        commit_batch(store, 1, store.tail(), table())
        store.trim(most_bytes=10**9)
        store.trim(at(removed + 0.5))
        first = store.complete_from()
        export_journal(store, folder / "journal")
        rebuild(store)
        assert marks(store)[first - 1 :] == before[first - 1 :]
        with Store.open(new_store(folder / "b.db"), clock) as other:
            import_journal(folder / "journal", other)
            assert marks(other)[first - 1 :] == before[first - 1 :]
            for one in (store, other):
                one.append([publish("last", time=str(at(-2_000)))])
            assert other.watermark_at(10**6) == store.watermark_at(10**6) == max(before[5:], default=None)  # type: ignore[type-var]


def test_an_export_of_an_earlier_release_can_be_imported(store: Store, tmp_path: Path, clock: Clock) -> None:
    with_schema(store).append([publish("e1", time=str(at(-5))), publish("e2")])
    path = tmp_path / "journal"
    export_journal(store, path)
    text = path.read_text()
    assert '"format":2' in text
    path.write_text(
        text.replace('"format":2', '"format":1').replace(',"watermark":', ',"w":', 1).replace(',"w":null', "")
    )
    header = path.read_text().splitlines()[0]
    if '"w"' in header:
        path.write_text(path.read_text().replace(header, header[: header.index(',"w"')] + "}"))
    with Store.open(new_store(tmp_path / "other.db"), clock) as other:
        import_journal(path, other)
        assert marks(other) == marks(store)
        assert other.incarnation() != store.incarnation()
