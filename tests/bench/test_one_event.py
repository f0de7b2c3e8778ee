"""One event per call, measured: every count is compared, and peers that cannot take part say why."""

import json
import sys

import numpy as np
import pytest
from typer.testing import CliRunner

from tidings.bench import one_event
from tidings.bench.agreement import Disagreement, naive_answers
from tidings.bench.one_event import FROM_DICT, IN_BATCHES, OURS, OnePlan, run_one_event
from tidings.bench.peers.java import PeerFailed
from tidings.bench.peers.programs import PROGRAMS, Peer, Program, unable, write_workload
from tidings.cli.main import app
from tidings.workloads import LeSubscribe, Thesis

SMALL = {"subscriptions": 300, "events": 60, "rounds": 2, "seconds": 0.1}

# A program as those under bench/peers are: it takes all time it is given for each event, and counts as told.
FAKE = """
import json, sys
lines = open(sys.argv[2]).read().splitlines()
header = json.loads(lines[0])
counted = json.loads(sys.argv[1])
print(json.dumps({"build_s": 0.25}), flush=True)
for line in sys.stdin:
    events, seconds = line.split()
    if counted is None:
        sys.exit("no more of this")
    filters = [json.loads(line) for line in lines[1:header["filters"] + 1]]
    events = [json.loads(line)["attributes"] for line in lines[header["filters"] + 1:]][:int(events)]
    counts = [sum(all(e.get(a) == v for a, o, v in f) for f in filters) + counted for e in events]
    print(json.dumps({"seconds": 0.001, "counts": counts}), flush=True)
"""


def fake(counted, prepare=lambda: None):
    return Peer("fake", "a fake", "", prepare, (sys.executable, "-c", FAKE, json.dumps(counted)))


def run(monkeypatch, peer, equality=1.0):
    monkeypatch.setitem(PROGRAMS, "fake", peer)
    return run_one_event(OnePlan(LeSubscribe(equality), **SMALL, peers=("fake",)))


def test_everybody_is_measured_in_the_same_rounds(monkeypatch):
    made = run(monkeypatch, fake(0))
    assert [one.name for one in made.results] == [OURS, FROM_DICT, IN_BATCHES, "fake"]
    assert {len(one.rates) for one in made.results} == {2}
    peer = made.results[-1]
    assert (peer.build_s, peer.note, peer.rate) == (0.25, "a fake", 60_000)
    assert made.ratio(peer) == pytest.approx(np.median([rate / 60_000 for rate in made.results[0].rates]))
    assert made.rows()[-1][0] == "fake"


def test_wrong_counts_are_an_error(monkeypatch):
    with pytest.raises(Disagreement, match="fake"):
        run(monkeypatch, fake(1))


def test_a_peer_that_ends_is_a_note(monkeypatch):
    made = run(monkeypatch, fake(None))
    assert made.results[-1].rates == ()
    assert made.results[-1].note == "fake ended: no more of this"


def test_a_peer_that_is_not_there_is_a_note(monkeypatch):
    made = run(monkeypatch, fake(0, lambda: "not available: needs cargo"))
    assert made.results[-1].note == "a fake: not available: needs cargo"


def test_a_program_that_does_not_start_has_failed(tmp_path):
    with pytest.raises(PeerFailed, match="fake ended"):
        Program(fake(0), tmp_path / "missing", 30)


def test_ranges_are_given_to_whom_they_suit():
    workload = LeSubscribe(0.5)
    table, events = workload.subscriptions(50), list(workload.events(5))
    assert "equality only" in unable(PROGRAMS["quamina"], table, events)
    assert "equality only" in unable(PROGRAMS["event-ruler"], table, events)
    assert unable(PROGRAMS["a-tree"], table, events) is None
    thesis = Thesis()
    assert unable(PROGRAMS["a-tree"], thesis.subscriptions(50), list(thesis.events(5))) is not None


@pytest.mark.slow
@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("equality", [1.0, 0.5])
def test_programs_count_as_naive_does(name, equality, tmp_path):
    workload, peer = LeSubscribe(equality), PROGRAMS[name]
    table, batch = workload.subscriptions(200), workload.events(100)
    if reason := peer.prepare() or unable(peer, table, list(batch)):
        pytest.skip(reason)
    write_workload(tmp_path / "workload", table, list(batch))
    program = Program(peer, tmp_path / "workload", 60)
    try:
        found = program.round(100, 60.0)
        assert found.counts.tolist() == naive_answers(table, batch).counts.tolist()
        assert found.seconds > 0
        assert len(program.round(10, 60.0).counts) == 10
    finally:
        program.close()


def test_the_command():
    options = ("--subscriptions", "300", "--events", "40", "--rounds", "2", "--seconds", "0.2", "--peer", "none")
    done = CliRunner().invoke(app, ["bench", "one-event", *options, "--equality", "0.5", "--json"])
    assert done.exit_code == 0, done.output
    said = json.loads(done.stdout)
    assert [one["name"] for one in said["results"]] == [OURS, FROM_DICT, IN_BATCHES]
    assert said["options"]["equality"] == 0.5
    table = CliRunner().invoke(app, ["bench", "one-event", *options])
    assert "match_one, JSON" in table.stdout
    assert CliRunner().invoke(app, ["bench", "one-event", "--peer", "quamnia"]).exit_code == 2


def test_match_one_is_checked_against_naive(monkeypatch):
    expected = naive_answers(LeSubscribe().subscriptions(1), LeSubscribe().events(200))
    monkeypatch.setattr(one_event, "naive_answers", lambda table, batch: expected)
    with pytest.raises(Disagreement, match="naive"):
        run_one_event(OnePlan(LeSubscribe(), **SMALL, peers=()))
