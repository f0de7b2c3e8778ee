"""The report is what was measured, with its losses; plots are files."""

from dataclasses import replace

import pytest

from tidings.bench.aims import aims
from tidings.bench.figures import Figure
from tidings.bench.losses import losses
from tidings.bench.matching import ALL_PEERS, QUICK
from tidings.bench.one_event import FROM_DICT, IN_BATCHES, OURS, OneResult, OneRun
from tidings.bench.report import _page, write_report
from tidings.bench.results import Result, Run
from tidings.bench.sections import one_event_sections, sections
from tidings.bench.standing import Fact

LINES = {"default": [(10.0, 1.0), (100.0, 1.5), (1000.0, 2.0)], "counting": []}
GROWTH = Figure("growth", "Growth", "subscriptions", "µs", LINES, exponents={"default": (0.2, 0.4)}, note="Hm.")


def result(name, rate, **more):
    return Result(name, events_per_s=rate, matches_per_event=2.0, **more)


def run(*results):
    return Run("le-subscribe", {"equality": 0.5, "seed": 1}, 1000, 100, 1, 0.4, results, commit="abc")


RUNS = {
    section.name: run(
        result(
            "default", 5000.0, floor_ratio=2.5, ns_per_match=1.0, bytes_per_subscription=90.0, subscriptions_per_s=6e5
        ),
        result("duckdb", 10.0),
        result("numpy", 200.0),
        result("prototype", 6000.0, note="a sketch"),
        Result("spark-sql", "peer", note="not installed"),
    )
    for section in sections(quick=True)
}
ONES = {
    section.name: OneRun(
        "le-subscribe",
        {"equality": section.equality, "seed": 1},
        1000,
        100,
        2.0,
        (
            OneResult(OURS, (50_000.0, 60_000.0, 30_000.0), 1.0),
            OneResult(FROM_DICT, (40_000.0, 50_000.0, 20_000.0), 1.0),
            OneResult(IN_BATCHES, (300_000.0,) * 3, 1.0),
            OneResult("quamina", (45_000.0, 80_000.0, 20_000.0), 3.0, "in Rust"),
            OneResult("event-ruler", note="needs mvn"),
        ),
    )
    for section in one_event_sections(quick=True)
}
FACTS = [Fact("adding", 7.0, "ms", "at most 5"), Fact("changes", 20_000.0, "changes/s", "at least 10,000")]


def test_aims_are_met_or_not():
    made = {aim.what: aim for aim in aims(RUNS, ONES, {"growth": GROWTH}, FACTS)}
    met = {what: aim.met for what, aim in made.items()}
    assert met["a match at p = 0.5 with 1,000 subscriptions, against only writing it"] is True
    assert met["p = 1, against the prototype"] is False
    assert met["p = 0.5, 1,000 subscriptions, against DuckDB"] is True
    assert met["rein, 1,000 subscriptions, against a numpy scan"] is False
    assert met["p = 0.5, 1,000 subscriptions, against counting"] is None
    assert met["memory of 1,000 subscriptions"] is False
    assert met["growth at a fixed number of matches: default"] is True
    assert (met["adding"], met["changes"]) == (False, True)
    assert met["one event, p = 1, 1,000 subscriptions, from JSON"] is True
    assert met["one event, p = 1, against quamina"] is True
    assert made["one event, p = 1, against quamina"].shown == "1.11 times (50,000 and 45,000 events/s)"


def test_losses_are_told():
    shown = aims(RUNS, ONES, {"growth": GROWTH}, FACTS)
    told = "\n".join(losses([RUNS["half"]], [], shown))
    assert "prototype matches 6,000 events/s, default 5,000 (a sketch)" in told
    assert "adding: 7 ms, aim at most 5" in told
    assert "duckdb" not in told
    assert losses([], [], []) == ["nowhere in this run"]


def test_losses_compare_runs_of_one_workload():
    one, two = run(result("default", 42_200.0)), replace(run(result("default", 35_800.0)), threads=2)
    other = replace(run(result("default", 30_000.0)), subscriptions=2000)
    told = losses([one, other, two], [], [])
    assert len(told) == 1
    assert "2 threads: default with one thread matches 42,200 events/s, default 35,800" in told[0]
    quicker = replace(two, results=(result("default", 50_000.0),))
    assert losses([one, quicker], [], []) == ["nowhere in this run"]  # more threads may be quicker
    elsewhere = run(result("counting", 60_000.0))  # measured in a run without default
    assert "counting with one thread matches 60,000" in losses([elsewhere, quicker], [], [])[0]


def test_who_builds_quicker_is_a_loss():
    told = losses(
        [run(result("default", 9.0, subscriptions_per_s=10.0), result("x", 1.0, subscriptions_per_s=20.0))], [], []
    )
    assert told == [
        "le-subscribe (equality 0.5, seed 1): 1,000 subscriptions, 100 events, one thread: "
        "subscriptions a second built or loaded: x 20; default 10"
    ]


def test_a_peer_that_is_quicker_at_one_event_is_a_loss():
    told = losses([], [ONES["one event, p = 1"]], [])
    assert len(told) == 1  # than from a dict; batches are no peer
    assert told[0].endswith("quamina matches 45,000 events/s, match_one, dict 40,000 (in Rust)")


def test_the_page_has_commands_tables_and_images():
    measured = [(section, RUNS[section.name]) for section in sections(quick=True)]
    ones = [(section, ONES[section.name]) for section in one_event_sections(quick=True)]
    page = _page(
        measured, ones, {"growth": GROWTH}, aims(RUNS, ONES, {"growth": GROWTH}, FACTS), "abc", 1.0, quick=True
    )
    assert "This is a quick run" in page
    assert "commit abc" in page
    assert "tidings bench matching --workload flights --subscriptions 2000" in page
    assert "--algorithms all --peers" in page
    assert "| spark-sql | – |" in page
    assert "not installed" in page
    assert "tidings bench one-event --equality 0.5 --subscriptions 2000" in page
    assert "| quamina | 45,000 | 80,000 | 1.11 × | 3 | in Rust |" in page
    assert "| event-ruler | – | – | – | – | needs mvn |" in page
    assert "![Growth](images/growth.svg)\n\nHm." in page


def test_every_run_of_the_report_can_be_repeated_by_its_command():
    full = {section.name: section for section in sections()}
    assert full["half"].plan.subscriptions == 3_200_000
    assert full["rein"].command.endswith("--algorithms default,scan --peer numpy --seconds 2")
    assert "--zipf" in full["rein-zipf"].command
    assert "--threads 2" in full["threads"].command
    assert full["everyone"].plan.peers == ALL_PEERS
    assert full["everyone"].plan.algorithms == QUICK


def test_plots_are_files(tmp_path):
    pytest.importorskip("matplotlib")
    from tidings.bench.plots import draw_figure, draw_run

    for figure in (GROWTH, replace(GROWTH, name="linear", logarithmic=False)):
        assert all(path.stat().st_size > 1000 for path in draw_figure(figure, tmp_path))
    written = draw_run(RUNS["half"], tmp_path / "new")
    assert [path.name for path in written] == ["matching-le-subscribe.svg", "matching-le-subscribe.png"]


def test_without_matplotlib_it_says_what_to_install(monkeypatch, tmp_path):
    from tidings.bench import plots

    monkeypatch.setattr(plots, "find_spec", lambda name: None)
    with pytest.raises(plots.PlotsMissing, match=r"tidings\[bench\]"):
        plots.draw_figure(GROWTH, tmp_path)


@pytest.mark.slow
def test_a_quick_report_runs_through(tmp_path):
    pytest.importorskip("matplotlib")
    written = write_report(tmp_path, quick=True)
    page = (tmp_path / "performance.md").read_text()
    assert tmp_path / "performance.md" in written
    assert "filters are added as text, flights" in page
    assert "match_one, JSON" in page
