"""Plans that share files with the one before: little is written, and each is complete by itself."""

import os
import resource
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

import pytest

from tests.matching.gate import PRICES, Gate, a_pair, answers, sizes
from tidings.language import Filter, Subscription
from tidings.matching.boxes.bulk import box_table
from tidings.matching.index.box_matcher import BoxMatcher
from tidings.matching.plan.folder import PlanNotSaved, UnusablePlan, open_plan, save_plan
from tidings.workloads import WORKLOADS

WORKLOAD = WORKLOADS["le-subscribe"]()
BATCH = WORKLOAD.events(50).at(1_000)
COUNT = 2_000


def a_matcher() -> BoxMatcher:
    matcher = BoxMatcher(WORKLOAD.catalog, threads=1)
    matcher.load(box_table(WORKLOAD.subscriptions(COUNT)), [f"s{number}" for number in range(COUNT)])
    return matcher


def add(matcher: BoxMatcher, number: int, at: int = 5) -> None:
    matcher.add(Subscription(f"new{number}", Filter.parse(f"number1 >= {number}", WORKLOAD.catalog)), at)


def files(plan: Path) -> dict[str, int]:
    """By name the inode, which tells a link from a copy."""
    return {path.name: path.stat().st_ino for path in plan.iterdir()}


def new_in(plan: Path, base: Path) -> set[str]:
    return {name for name, inode in files(plan).items() if files(base).get(name) != inode}


@pytest.fixture(params=["saved", "opened"])
def matcher(request: pytest.FixtureRequest, tmp_path: Path) -> BoxMatcher:
    """A matcher that was saved in `base`, or opened from it."""
    made = a_matcher()
    save_plan(made, tmp_path / "base")
    return made if request.param == "saved" else open_plan(tmp_path / "base", threads=1)


def test_only_what_changed_is_written(matcher: BoxMatcher, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    forced: list[str] = []
    real = os.fsync

    def fsync(handle: int) -> None:
        forced.append(os.readlink(f"/proc/self/fd/{handle}"))
        real(handle)

    monkeypatch.setattr(os, "fsync", fsync)
    add(matcher, 0)
    save_plan(matcher, tmp_path / "next", tmp_path / "base")
    new = new_in(tmp_path / "next", tmp_path / "base")
    assert new == {"manifest.json", "segment-2.arrow", "numbers-3.arrow"}
    assert {Path(name).name for name in forced} >= new
    assert len(forced) == len(new) + 2  # and the two folders
    assert sum((tmp_path / "next" / name).stat().st_size for name in new) < 40_000
    assert answers(open_plan(tmp_path / "next", threads=1), BATCH) == answers(matcher, BATCH)


def test_a_withdrawal_is_two_numbers(matcher: BoxMatcher, tmp_path: Path) -> None:
    matcher.withdraw("s3", 7)
    save_plan(matcher, tmp_path / "next", tmp_path / "base")
    assert new_in(tmp_path / "next", tmp_path / "base") == {"manifest.json", "closings-2.arrow"}
    opened = open_plan(tmp_path / "next", threads=1)
    assert not opened.is_active("s3")
    assert answers(opened, BATCH) == answers(matcher, BATCH)


def test_what_did_not_change_is_linked_altogether(matcher: BoxMatcher, tmp_path: Path) -> None:
    save_plan(matcher, tmp_path / "next", tmp_path / "base")
    assert new_in(tmp_path / "next", tmp_path / "base") == {"manifest.json"}
    assert answers(open_plan(tmp_path / "next", threads=1), BATCH) == answers(matcher, BATCH)


def test_without_a_base_everything_is_written(matcher: BoxMatcher, tmp_path: Path) -> None:
    save_plan(matcher, tmp_path / "next")
    assert (
        set(files(tmp_path / "next")) == new_in(tmp_path / "next", tmp_path / "base") == set(files(tmp_path / "base"))
    )
    assert answers(open_plan(tmp_path / "next", threads=1), BATCH) == answers(matcher, BATCH)


def test_a_hundred_versions_have_few_files(matcher: BoxMatcher, tmp_path: Path) -> None:
    base = tmp_path / "base"
    for number in range(100):
        add(matcher, number, at=number)
        if number % 3 == 0:
            matcher.withdraw(f"s{number}", number)
        save_plan(matcher, tmp_path / f"v{number}", base)
        shutil.rmtree(base)
        base = tmp_path / f"v{number}"
    assert len(files(base)) < 20
    opened = open_plan(base, threads=1)
    assert answers(opened, BATCH) == answers(matcher, BATCH)
    assert list(opened.spans.ids) == list(matcher.spans.ids)
    assert opened.filter_texts() == matcher.filter_texts()
    assert len(opened.filter_texts()) == 100


def test_a_plan_outlives_its_base(matcher: BoxMatcher, tmp_path: Path) -> None:
    add(matcher, 0)
    save_plan(matcher, tmp_path / "next", tmp_path / "base")
    shutil.rmtree(tmp_path / "base")
    assert answers(open_plan(tmp_path / "next", threads=1), BATCH) == answers(matcher, BATCH)
    add(matcher, 1)
    save_plan(matcher, tmp_path / "third", tmp_path / "base")  # which is gone, so all is written again
    shutil.rmtree(tmp_path / "next")
    assert answers(open_plan(tmp_path / "third", threads=1), BATCH) == answers(matcher, BATCH)


def test_a_base_of_somebody_else_is_no_base(matcher: BoxMatcher, tmp_path: Path) -> None:
    shutil.rmtree(tmp_path / "base")
    other = BoxMatcher(WORKLOAD.catalog, threads=1)
    other.load(box_table(WORKLOAD.subscriptions(COUNT, start=COUNT)), [f"s{number}" for number in range(COUNT)])
    save_plan(other, tmp_path / "base")
    save_plan(matcher, tmp_path / "next", tmp_path / "base")
    assert new_in(tmp_path / "next", tmp_path / "base") == set(files(tmp_path / "next"))
    assert answers(open_plan(tmp_path / "next", threads=1), BATCH) == answers(matcher, BATCH)


@pytest.mark.parametrize("file", ["segment-0.arrow", "numbers-1.arrow"])
@pytest.mark.parametrize("harm", ["flipped", "shortened", "removed"])
def test_a_damaged_base_is_not_taken_from(tmp_path: Path, file: str, harm: str) -> None:
    matcher = a_matcher()
    save_plan(matcher, tmp_path / "base")
    path = tmp_path / "base" / file
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.unlink() if harm == "removed" else path.write_bytes(content if harm == "flipped" else content[:-8])
    save_plan(matcher, tmp_path / "next", tmp_path / "base")
    assert new_in(tmp_path / "next", tmp_path / "base") == {"manifest.json", file}
    assert answers(open_plan(tmp_path / "next", threads=1), BATCH) == answers(matcher, BATCH)


def test_a_file_that_is_damaged_while_it_is_open_is_not_saved_again(tmp_path: Path) -> None:
    """The matcher's memory is the file: a fresh checksum would make the damage good."""
    save_plan(a_matcher(), tmp_path / "base")
    opened = open_plan(tmp_path / "base", threads=1)
    path = tmp_path / "base" / "segment-0.arrow"
    with path.open("r+b") as file:
        file.seek(path.stat().st_size // 2)
        byte = file.read(1)
        file.seek(-1, os.SEEK_CUR)
        file.write(bytes([byte[0] ^ 1]))
    for base in (tmp_path / "base", None):
        with pytest.raises(UnusablePlan, match=r"segment-0\.arrow was damaged after it was opened"):
            save_plan(opened, tmp_path / "next", base)
    assert [path.name for path in tmp_path.iterdir()] == ["base"]


def test_where_links_are_refused_files_are_copied(
    matcher: BoxMatcher, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(source: Path, target: Path) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refused)
    plans = [tmp_path / name for name in ("base", "second", "third")]
    for number, (base, plan) in enumerate(pairwise(plans)):
        add(matcher, number)
        save_plan(matcher, plan, base)
        assert set(files(plan)) == new_in(plan, base)
        same = (base / "segment-0.arrow").read_bytes() == (plan / "segment-0.arrow").read_bytes()
        assert same
    shutil.rmtree(plans[0])
    shutil.rmtree(plans[1])
    assert answers(open_plan(plans[2], threads=1), BATCH) == answers(matcher, BATCH)


@contextmanager
def files_of_at_most(size: int) -> Iterator[None]:
    """The system refuses to write more into one file, as it does on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_full_disk_leaves_nothing_behind_and_the_matcher_whole(matcher: BoxMatcher, tmp_path: Path) -> None:
    everything = " or ".join(f"number{n} >= 0 or string{n} exists" for n in (1, 2, 3))
    many = Filter.parse(everything, WORKLOAD.catalog)
    matcher.add_many((Subscription(f"new{number}", many), 5) for number in range(1_000))
    for base in (None, tmp_path / "base"):
        with files_of_at_most(20_000), pytest.raises(PlanNotSaved, match="too large"):
            save_plan(matcher, tmp_path / "next", base)
        assert [path.name for path in tmp_path.iterdir()] == ["base"]
    save_plan(matcher, tmp_path / "next", tmp_path / "base")
    shutil.rmtree(tmp_path / "base")
    assert answers(open_plan(tmp_path / "next", threads=1), BATCH) == answers(matcher, BATCH)


def test_a_copy_that_does_not_fit_leaves_nothing_behind(
    matcher: BoxMatcher, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(source: Path, target: Path) -> None:
        raise OSError(31, "Too many links")

    monkeypatch.setattr(os, "link", refused)
    with files_of_at_most(20_000), pytest.raises(PlanNotSaved, match="too large"):
        save_plan(matcher, tmp_path / "next", tmp_path / "base")
    assert [path.name for path in tmp_path.iterdir()] == ["base"]


def test_saving_does_not_wait_for_a_merge(gate: Gate, tmp_path: Path) -> None:
    boxes, naive = a_pair(range(4))
    boxes.add(Subscription("late", Filter.parse("price exists", boxes.catalog)), 4)
    naive.add(Subscription("late", Filter.parse("price exists", boxes.catalog)), 4)
    save_plan(boxes, tmp_path / "first")
    assert sizes(boxes) == [3, 1, 1]
    assert answers(open_plan(tmp_path / "first", threads=1), PRICES) == answers(naive, PRICES)
    gate.opened.set()
    boxes._segments.finish(wait=True)
    save_plan(boxes, tmp_path / "second", tmp_path / "first")
    assert sizes(boxes) == [4, 1]
    assert answers(open_plan(tmp_path / "second", threads=1), PRICES) == answers(naive, PRICES)


def test_texts_that_no_position_needs_are_left_out(matcher: BoxMatcher, tmp_path: Path) -> None:
    for number in range(100):
        add(matcher, number)
    save_plan(matcher, tmp_path / "next", tmp_path / "base")
    for number in range(80):
        matcher.withdraw(f"new{number}", 10)
    matcher.forget_before(20)
    matcher.merge()
    save_plan(matcher, tmp_path / "third", tmp_path / "next")
    opened = open_plan(tmp_path / "third", threads=1)
    assert sorted(opened.filter_texts()) == list(range(COUNT + 80, COUNT + 100)) == sorted(matcher.filter_texts())
    assert opened.id(COUNT) == "new0"
    assert answers(opened, BATCH) == answers(matcher, BATCH)
