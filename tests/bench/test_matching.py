"""The harness: what it reports, and that it reports nothing when answers differ."""

import json

import numpy as np
import pytest

from tidings.bench import agreement, matching
from tidings.bench.agreement import Disagreement, NoBulkLoading, answers_of, compare
from tidings.bench.matching import Plan, agree, run_matching
from tidings.bench.results import Answers, Measured, Result
from tidings.bench.table import title
from tidings.matching.algorithm import Cost, Matches
from tidings.matching.algorithms import UnknownAlgorithm, make_matcher
from tidings.matching.papers.scan import ScanMatcher
from tidings.workloads import LeSubscribe, Thesis

FIELDS = {
    "algorithm", "kind", "events_per_s", "matches_per_event", "ns_per_match", "floor_ratio", "build_s",
    "subscriptions_per_s", "bytes_per_subscription", "compile_s", "candidates_per_event", "events", "note",
}  # fmt: skip


def small(algorithms, **options):
    return Plan(LeSubscribe(), 600, 100, algorithms, seconds=0.5, **options)


@pytest.fixture(scope="module")
def run():
    return run_matching(small(("default", "counting", "naive"), peers=("numpy",)))


def test_the_shape_of_its_json(run):
    said = json.loads(json.dumps(run.as_json()))
    assert said.keys() >= {"machine", "commit", "workload", "options", "subscriptions", "events", "threads", "results"}
    assert said["machine"]["cores"] >= 1
    assert said["options"] == {"equality": 0.5, "seed": 1}
    assert all(one.keys() == FIELDS for one in said["results"])
    assert [one["algorithm"] for one in said["results"]] == ["default", "counting", "naive", "numpy"]


def test_what_it_measures(run):
    default, counting, naive, numpy = run.results
    for one in (default, counting):
        assert one.events == 100
        assert one.events_per_s > 0
        assert one.build_s > 0
        assert one.compile_s >= 0
        assert one.candidates_per_event > 0
        assert one.floor_ratio == pytest.approx(one.ns_per_match / run.floor_ns_per_match)
    assert default.bytes_per_subscription > 0
    assert counting.bytes_per_subscription is None
    assert default.matches_per_event == counting.matches_per_event == numpy.matches_per_event > 1
    assert numpy.kind == "peer"
    assert naive.events_per_s is None
    assert "small scale" in naive.note


class Forgetful(ScanMatcher):
    """Loses the last match of every event that has more than five."""

    name = "forgetful"

    def _match(self, batch):
        found = super()._match(batch)
        keep = np.ones(len(found), bool)
        keep[found.offsets[1:][np.diff(found.offsets) > 5] - 1] = False
        kept = np.concatenate([[0], np.cumsum(keep)])
        return Matches(kept[found.offsets], found.numbers[keep], Cost())


def broken(name, catalog):
    return Forgetful(catalog) if name == "scan" else make_matcher(name, catalog)


def test_a_wrong_algorithm_is_found_at_small_scale(monkeypatch):
    monkeypatch.setattr(agreement, "make_matcher", broken)
    with pytest.raises(Disagreement, match=r"scan disagrees on event .* and naive .*; nothing is reported"):
        run_matching(small(("default", "scan")))


def test_a_wrong_algorithm_is_found_at_full_scale(monkeypatch):
    monkeypatch.setattr(agreement, "make_matcher", broken)
    monkeypatch.setattr(matching, "check_small", lambda *_: 0.0)
    with pytest.raises(Disagreement, match=r"scan disagrees on event .* and default"):
        run_matching(small(("default", "scan")))


def test_the_same_number_of_other_matches_is_a_disagreement():
    one = Answers(np.array([2]), np.array([5]))
    with pytest.raises(Disagreement, match="as many as a, but not the same"):
        compare("b", Answers(np.array([2]), np.array([6])), "a", one)
    compare("b", Answers(np.array([2, 9])), "a", one)  # counts alone, on the events that both have


def test_agreement_is_of_all_with_the_first():
    def answered(name, *counts):
        return Measured(Result(name), Answers(np.array(counts)))

    agree([answered("a", 1, 2), Measured(Result("refused")), answered("b", 1)])
    with pytest.raises(Disagreement, match=r"c disagrees on event 1: 3 matches and a 2"):
        agree([answered("a", 1, 2), answered("b", 1), answered("c", 1, 3)])


def test_answers_are_counts_and_sums():
    found = answers_of(Matches(np.array([0, 2, 2, 3]), np.array([4, 1, 9], np.int32)))
    assert found.counts.tolist() == [2, 0, 1]
    assert found.sums.tolist() == [5, 0, 9]


@pytest.mark.slow
def test_what_an_algorithm_refuses_is_a_row():
    run = run_matching(Plan(Thesis(), 600, 50, ("default", "gough"), seconds=0.1))
    assert run.results[0].events_per_s is not None
    assert run.results[1].events_per_s is None
    assert "refused" in run.results[1].note


def test_only_algorithms_that_there_are():
    with pytest.raises(UnknownAlgorithm, match="counting"):
        run_matching(small(("countin",)))


def test_naive_cannot_be_loaded_from_arrays():
    with pytest.raises(NoBulkLoading, match="one by one"):
        agreement.built("naive", LeSubscribe.catalog, None, [])


def test_the_default_chooses_its_threads():
    run = run_matching(Plan(LeSubscribe(0.5), 300, 600, ("default",), threads=0, seconds=0.1))
    assert run.result("default").events_per_s > 0
    assert "threads as the default chooses" in title(run)
