"""The planner alone: what it publishes answers like the oracle, whatever happened to its folder."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from tests.pipeline.market import Market, opening
from tests.pipeline.oracle import Pairs, notifications_of
from tests.services.sqlite import new_store
from tests.store.batches import commit_batch
from tidings.matching.plan import folder
from tidings.matching.plan.folder import PlanNotSaved, open_plan
from tidings.matching.plan.saved_files import UnusablePlan
from tidings.pipeline.direct.found import found as found_in
from tidings.pipeline.plans import plan_build
from tidings.pipeline.plans import planner as planning
from tidings.pipeline.plans.plan_build import BuildFailed, PlanTooLarge
from tidings.pipeline.plans.planner import Planner
from tidings.pipeline.plans.plans import NoPlan, Plans, Published, folders_of, shard_of
from tidings.pipeline.spark.worker_cache import OpenedPlan, opened_plan
from tidings.pipeline.stream.payloads import read_payloads
from tidings.pipeline.stream.stage import MatchStage
from tidings.pipeline.stream.staging import StagedFiles
from tidings.pipeline.stream.stretch import Stretch
from tidings.store import Edit, Store, Subscribe


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(new_store(tmp_path / "tidings.db")) as store:
        store.append(opening())
        yield store


@pytest.fixture
def plans(tmp_path: Path) -> Plans:
    return Plans(tmp_path / "plans")


def answers(store: Store, plans: Plans, published: Published) -> Pairs:
    """What all shards of a version say of every event."""
    found: Pairs = set()
    for shard in range(published.shards):
        matcher = open_plan(plans.path(published.version, shard))
        for rows in store.event_rows(0, store.tail()):
            batch, problems = read_payloads(
                rows.column("payload").to_pylist(), rows.column("position"), rows.column("accepted"), matcher.catalog
            )
            assert problems == []
            for events, lists in found_in(batch, matcher):
                positions = batch.positions.take(pa.array(events)).to_pylist()
                for position, ids in zip(positions, lists.to_pylist(), strict=True):
                    assert found.isdisjoint((position, id) for id in ids)
                    found |= {(position, id) for id in ids}
    return found


@pytest.mark.parametrize("seed", range(6))
def test_published_step_by_step(store: Store, plans: Plans, seed: int) -> None:
    planner, market = Planner(store, plans), Market(seed)
    for _ in range(20):
        store.append(list(market.drafts(30, changes=0.3)))
        published = planner.catch_up()
    assert answers(store, plans, published) == notifications_of(store)


def test_after_an_upgrade_that_cuts_texts_otherwise_plans_are_made_again(
    store: Store, plans: Plans, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.append(list(Market(1).drafts(30, changes=0.3)))
    first = Planner(store, plans).catch_up()
    monkeypatch.setattr(folder, "text_versions", lambda: "Unicode 99.0.0, PyStemmer 9")
    said: list[str] = []
    again = Planner(store, plans, tell=said.append).catch_up()
    assert again.version > first.version
    assert answers(store, plans, again) == notifications_of(store)
    (told,) = said
    assert "this is Unicode 99.0.0" in told
    assert "made again from the journal" in told


@pytest.mark.parametrize("anew", [False, True])
def test_composites_are_not_matched_as_filters(store: Store, plans: Plans, anew: bool) -> None:
    """Not when they are posted, nor when a filter becomes a composite; and again when it becomes a filter."""
    planner, market, pair = Planner(store, plans), Market(7), "[price < 50] before [price > 50] within 1 h"
    store.append([Subscribe("a", "price >= 0"), Subscribe("b", "price >= 0"), Subscribe("c", composite=pair)])
    for edit in (Edit("a", composite=pair), Edit("c", "price < 50"), Edit("b", composite=pair), Edit("b", "price < 9")):
        store.append([market.event() for _ in range(5)])
        planner = Planner(store, Plans(plans.folder.with_name(edit.id))) if anew else planner
        planner.catch_up()
        store.append([edit])
    store.append([market.event() for _ in range(5)])
    published = planner.catch_up()
    found = answers(store, Plans(plans.folder.with_name("b")) if anew else plans, published)
    assert found == notifications_of(store)
    assert {id for _, id in found} == {"a", "b", "c"}


def test_nothing_new_is_not_published_again(store: Store, plans: Plans) -> None:
    planner, market = Planner(store, plans), Market(1)
    first = planner.catch_up()
    store.append([market.event() for _ in range(10)])
    assert planner.catch_up() is first
    store.append([market.subscribe()])
    assert planner.catch_up().version > first.version


def test_another_planner_goes_on_with_what_is_there(store: Store, plans: Plans) -> None:
    market = Market(2)
    for _ in range(5):
        store.append(list(market.drafts(50, changes=0.3)))
        published = Planner(store, plans).catch_up()
    assert answers(store, plans, published) == notifications_of(store)


def test_a_planner_after_the_commit_has_all_that_events_to_come_need(store: Store, plans: Plans) -> None:
    """Made anew it leaves out what ended before the committed position, and nothing else."""
    market = Market(3)
    store.append(list(market.drafts(300, changes=0.3)))
    commit_batch(store, 1, store.tail(), _nothing())
    committed = store.tail()
    store.append(list(market.drafts(300, changes=0.3)))
    published = Planner(store, plans).catch_up()
    later = {pair for pair in notifications_of(store) if pair[0] > committed}
    assert {pair for pair in answers(store, plans, published) if pair[0] > committed} == later


def _nothing() -> object:
    import pyarrow as pa

    return pa.table({"position": pa.array([], pa.int64()), "subscriptions": pa.array([], pa.list_(pa.string()))})


def test_a_plan_of_another_journal_is_not_used(store: Store, plans: Plans, tmp_path: Path) -> None:
    with Store.open(tmp_path / "other.db") as other:
        other.append(opening())
        other.append([Market(4).subscribe()])
        Planner(other, plans).catch_up()
    store.append(list(Market(5).drafts(100, changes=0.3)))
    published = Planner(store, plans).catch_up()
    assert published.incarnation == store.incarnation()
    assert answers(store, plans, published) == notifications_of(store)


def test_a_deleted_folder_is_made_again_under_another_version(store: Store, plans: Plans) -> None:
    planner = Planner(store, plans)
    store.append(list(Market(6).drafts(100, changes=0.3)))
    before = planner.catch_up()
    shutil.rmtree(plans.folder)
    after = planner.catch_up()
    assert after.version > before.version
    assert answers(store, plans, after) == notifications_of(store)


@pytest.mark.parametrize("damage", ["", "{", '{"version": 1}'])
def test_a_damaged_pointer_is_published_again(store: Store, plans: Plans, damage: str) -> None:
    planner = Planner(store, plans)
    store.append(list(Market(6).drafts(100, changes=0.3)))
    planner.catch_up()
    (plans.folder / "current.json").write_text(damage)
    assert plans.newest() is None
    after = planner.catch_up()  # no subscription changed meanwhile
    assert plans.newest() == after
    assert answers(store, plans, after) == notifications_of(store)


def test_shards_split_until_each_fits(store: Store, plans: Plans) -> None:
    market, told = Market(7), []
    store.append([market.subscribe() for _ in range(2_000)])
    store.append([market.event() for _ in range(100)])
    published = Planner(store, plans, most_bytes=80_000, tell=told.append).catch_up()
    assert published.shards >= 2
    assert "shards" in told[0]
    assert answers(store, plans, published) == notifications_of(store)


@pytest.mark.slow
def test_shards_are_counted_once_and_built_beside_each_other(
    store: Store, plans: Plans, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Processes of their own give the same plan, also of spans that ended, and later changes go on from it."""
    market, built = Market(7), []
    store.append([*(market.subscribe() for _ in range(3_000)), *market.drafts(300, changes=0.5)])
    monkeypatch.setattr(plan_build, "_FEWEST", 1)
    monkeypatch.setattr(planning, "build", lambda *given: built.append(given[2]) or plan_build.build(*given))
    planner = Planner(store, plans, most_bytes=200_000)
    published = planner.catch_up()
    assert built == [published.shards]
    assert published.shards >= 2
    assert answers(store, plans, published) == notifications_of(store)
    assert not list(plans.folder.glob(".building-*"))
    store.append(list(market.drafts(50, changes=0.5)))
    assert answers(store, plans, planner.catch_up()) == notifications_of(store)
    assert len(built) == 1


def test_a_shard_that_cannot_be_built(store: Store, plans: Plans, monkeypatch: pytest.MonkeyPatch) -> None:
    market = Market(7)
    store.append([market.subscribe() for _ in range(100)])
    monkeypatch.setattr(plan_build, "_FEWEST", 1)
    monkeypatch.setattr(plan_build.json_form, "write", lambda _: {"domains": 7})
    with pytest.raises(BuildFailed, match="could not be built"):
        plan_build.build(store.catalog(), list(store.spans(0)), 2, plans.folder.parent)


def test_what_fits_in_no_number_of_shards_is_an_error(store: Store, plans: Plans) -> None:
    store.append([Market(8).subscribe()])
    with pytest.raises(PlanTooLarge, match="--plan-limit"):
        Planner(store, plans, most_bytes=10).catch_up()


def test_workers_find_a_later_version_and_all_its_shards(plans: Plans, monkeypatch: pytest.MonkeyPatch) -> None:
    for shard in range(4):
        plans.path(20, shard).mkdir(parents=True)
    plans.publish(Published(20, 1, 4, "j"))
    newest = [plans.path(20, shard) for shard in range(4)]
    for version, shards in ((20, 4), (10, 1), (10, 2), (10, 8)):
        assert folders_of(plans, version, shards) == newest
    plans.path(10, 0).mkdir(parents=True)
    assert folders_of(plans, 10, 1) == [plans.path(10, 0)]
    assert folders_of(plans, 10, 2) == newest, "a version of which a shard is gone is not used in part"
    monkeypatch.setattr("tidings.pipeline.plans.plans._PATIENCE", 0.0)
    with pytest.raises(NoPlan, match="no plan 30"):
        folders_of(plans, 30, 1)


def test_a_split_keeps_a_subscription_with_its_kin() -> None:
    for number in range(1_000):
        assert shard_of(f"s{number}", 8) % 4 == shard_of(f"s{number}", 4)


def test_old_versions_are_swept(plans: Plans) -> None:
    for version in (1, 2, 3, 9):
        plans.path(version, 0).mkdir(parents=True)
    plans.sweep(4)
    left = sorted(int(path.name) for path in plans.folder.iterdir())
    assert left == [3, 9], "3 was the newest until 9 came"


def test_a_plan_that_is_swept_while_it_is_opened(store: Store, plans: Plans, monkeypatch: pytest.MonkeyPatch) -> None:
    """The planner goes on while a batch begins: the worker takes a later version, and still refuses a damaged one."""
    planner, market = Planner(store, plans), Market(9)
    older = planner.catch_up()
    store.append([market.subscribe()])
    newer = planner.catch_up()

    opened: list[Path] = []

    def swept_then_opened(folder: Path, most_kept: int) -> OpenedPlan:
        opened.append(folder)
        plans.remove(older.version)
        return opened_plan(folder, most_kept)

    monkeypatch.setattr("tidings.pipeline.stream.stage.opened_plan", swept_then_opened)
    stage = MatchStage(plans, store.url, StagedFiles(plans.folder / "staged"), "batch")

    def match_with(version: int) -> list[dict[str, Any]]:
        row = asdict(Stretch(1, store.tail(), version, 1))
        (summary,) = stage(iter([pa.RecordBatch.from_pylist([row])]))
        return summary.to_pylist()

    assert plans.path(older.version, 0).is_dir()
    assert match_with(older.version)[-1]["done"] == store.tail()
    assert set(opened[1:]) == {plans.path(newer.version, 0)}
    assert [path.name for path in plans.folder.iterdir() if path.name.startswith("removed")] == []
    store.append([market.subscribe()])
    damaged = plans.path(planner.catch_up().version, 0)
    (damaged / "manifest.json").unlink()
    with pytest.raises(UnusablePlan, match="is missing"):
        match_with(int(damaged.parent.name))


def test_what_a_killed_planner_left_is_swept(plans: Plans) -> None:
    (plans.folder / "removed-000000000001" / "shard-0").mkdir(parents=True)
    plans.sweep(4)
    assert list(plans.folder.iterdir()) == []


def test_a_save_that_failed_is_made_up_for(store: Store, plans: Plans, monkeypatch: pytest.MonkeyPatch) -> None:
    """The disk is full once: the change must not be forgotten when there is room again."""
    planner, market = Planner(store, plans), Market(9)
    planner.catch_up()
    store.append([*(market.subscribe() for _ in range(5)), *(market.event() for _ in range(50))])
    with monkeypatch.context() as full:
        full.setattr("tidings.matching.plan.folder.os.rename", _no_room)
        with pytest.raises(PlanNotSaved):
            planner.catch_up()
    published = planner.catch_up()
    assert answers(store, plans, published) == notifications_of(store)


def _no_room(*_: object) -> None:
    raise OSError(28, "No space left on device")
