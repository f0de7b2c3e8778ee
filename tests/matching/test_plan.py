"""Plans on disk: saved whole, opened by memory map, refused when anything about them is wrong."""

import json
import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.strategies.filters import RICH
from tidings.events import Event, EventBatch
from tidings.language import Filter, Subscription
from tidings.matching.boxes.bulk import box_table
from tidings.matching.index.box_matcher import BoxMatcher
from tidings.matching.plan import folder
from tidings.matching.plan.folder import PlanExists, PlanNotSaved, UnusablePlan, open_plan, save_plan
from tidings.workloads import WORKLOADS

WORKLOAD = WORKLOADS["le-subscribe"]()


def a_matcher(count: int = 2_000) -> BoxMatcher:
    matcher = BoxMatcher(WORKLOAD.catalog, threads=1)
    matcher.load(box_table(WORKLOAD.subscriptions(count)), [f"s{number}" for number in range(count)])
    return matcher


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    save_plan(a_matcher(), tmp_path / "plan")
    return tmp_path / "plan"


def test_an_opened_plan_matches_as_the_matcher_did(saved: Path) -> None:
    batch = WORKLOAD.events(200)
    before, after = a_matcher().match(batch), open_plan(saved, threads=1).match(batch)
    assert np.array_equal(before.offsets, after.offsets)
    assert np.array_equal(before.numbers, after.numbers)


def test_an_opened_plan_can_be_changed_and_the_files_stay(saved: Path) -> None:
    opened, batch = open_plan(saved, threads=1), WORKLOAD.events(50).at(100)
    opened.withdraw("s3", 7)
    everything = " or ".join(f"number{n} >= 0 or string{n} exists" for n in (1, 2, 3))
    opened.add(Subscription("new", Filter.parse(everything, WORKLOAD.catalog)), 8)
    found = opened.match(batch)
    ids = [{opened.id(number) for number in found.of(row).tolist()} for row in range(50)]
    assert any("new" in of_event for of_event in ids)
    assert not any("s3" in of_event for of_event in ids)
    assert np.array_equal(open_plan(saved).match(batch).offsets, a_matcher().match(batch).offsets)


def test_filters_that_kernels_cannot_decide_are_saved_along(tmp_path: Path) -> None:
    matcher = BoxMatcher(RICH, threads=1)
    matcher.add(Subscription("s", Filter.parse("price < budget", RICH)))
    save_plan(matcher, tmp_path / "plan")
    assert open_plan(tmp_path / "plan").filter_texts() == {0: 'price < "budget"'}


def test_a_plan_keeps_the_numbers_of_a_hierarchy(tmp_path: Path) -> None:
    matcher = BoxMatcher(RICH, threads=1)
    matcher.add(Subscription("s", Filter.parse("category under vehicle", RICH)))
    save_plan(matcher, tmp_path / "plan")
    opened = open_plan(tmp_path / "plan")
    assert opened.catalog == RICH
    events = [Event(name, ("car",), (("category", (name,)),)) for name in ("mini", "table", "vehicle")]
    found = opened.match(EventBatch.of(events, opened.catalog))
    assert [len(found.of(row)) for row in range(3)] == [1, 0, 1]


def test_a_plan_is_never_overwritten(saved: Path) -> None:
    with pytest.raises(PlanExists, match="never overwritten"):
        save_plan(a_matcher(), saved)


@pytest.mark.parametrize("file", ["manifest.json", "numbers-1.arrow", "segment-0.arrow"])
def test_any_damaged_byte_is_noticed(saved: Path, file: str) -> None:
    path = saved / file
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    with pytest.raises(UnusablePlan):
        open_plan(saved)


def test_every_file_of_a_plan_is_needed_and_checked(saved: Path) -> None:
    for path in [path for path in saved.rglob("*") if path.is_file()]:
        content = path.read_bytes()
        path.write_bytes(content[:-1])
        with pytest.raises(UnusablePlan):
            open_plan(saved)
        path.unlink()
        with pytest.raises(UnusablePlan):
            open_plan(saved)
        path.write_bytes(content)
    open_plan(saved)


def test_a_foreign_format_is_refused_by_name(saved: Path) -> None:
    manifest = saved / "manifest.json"
    sealed = json.loads(manifest.read_text())
    sealed["manifest"]["format"] = 99
    manifest.write_text(json.dumps(sealed))
    with pytest.raises(UnusablePlan, match="says tidings-plan 99, this release reads tidings-plan 8"):
        open_plan(saved)


def test_a_plan_of_texts_cut_otherwise_is_refused(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folder, "text_versions", lambda: "Unicode 99.0.0, PyStemmer 9")
    with pytest.raises(UnusablePlan, match=r"made with Unicode 1\d.*, and this is Unicode 99\.0\.0, PyStemmer 9"):
        open_plan(saved)


def test_a_folder_that_is_no_plan_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnusablePlan, match=r"manifest\.json is missing"):
        open_plan(tmp_path)


def test_errors_survive_pickling() -> None:
    for error in (PlanExists("p"), PlanNotSaved("p", "full"), UnusablePlan("p", "f", "is missing")):
        assert str(pickle.loads(pickle.dumps(error))) == str(error)


MANY = """
import sys
from pathlib import Path
from tidings.matching.plan.folder import open_plan
from tidings.workloads import WORKLOADS
print(len(open_plan(Path(sys.argv[1]), threads=1).match(WORKLOADS["le-subscribe"]().events(50))))
"""


@pytest.mark.slow
def test_eight_processes_may_start_at_once_on_a_cold_cache(saved: Path, tmp_path: Path) -> None:
    environment = os.environ | {"TIDINGS_CACHE": str(tmp_path / "cold")}
    environment.pop("NUMBA_CACHE_DIR", None)
    command = [sys.executable, "-c", MANY, str(saved)]
    started = [subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) for _ in range(8)]
    answers = [process.communicate(timeout=600)[0].strip() for process in started]
    expected = len(a_matcher().match(WORKLOAD.events(50)))
    assert answers == [str(expected)] * 8
    assert subprocess.check_output(command, env=environment, text=True).strip() == str(expected)
