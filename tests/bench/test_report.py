"""The report is what was measured, with its losses; plots are files."""

from dataclasses import replace

import pytest

from tidings.bench.aims import aims
from tidings.bench.figures import Figure
from tidings.bench.matching import ALL_PEERS, QUICK
from tidings.bench.report import _page, losses
from tidings.bench.results import Result, Run
from tidings.bench.sections import sections
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
FACTS = [Fact("adding", 7.0, "ms", "at most 5"), Fact("changes", 20_000.0, "changes/s", "at least 10,000")]


def test_aims_are_met_or_not():
    made = {aim.what: aim for aim in aims(RUNS, {"growth": GROWTH}, FACTS)}
    met = {what: aim.met for what, aim in made.items()}
    assert met["a match at p = 0.5 with 1,000 subscriptions, against only writing it"] is True
    assert met["p = 1, against the prototype"] is False
    assert met["p = 0.5, 1,000 subscriptions, against DuckDB"] is True
    assert met["rein, 1,000 subscriptions, against a numpy scan"] is False
    assert met["p = 0.5, 1,000 subscriptions, against counting"] is None
    assert met["memory of 1,000 subscriptions"] is False
    assert met["growth at a fixed number of matches: default"] is True
    assert (met["adding"], met["changes"]) == (False, True)


def test_losses_are_told():
    shown = aims(RUNS, {"growth": GROWTH}, FACTS)
    told = "\n".join(losses([RUNS["half"]], shown))
    assert "prototype matches 6,000 events/s, default 5,000 (a sketch)" in told
    assert "adding: 7 ms, aim at most 5" in told
    assert "duckdb" not in told
    assert losses([], []) == ["nowhere in this run"]


def test_the_page_has_commands_tables_and_images():
    measured = [(section, RUNS[section.name]) for section in sections(quick=True)]
    page = _page(measured, {"growth": GROWTH}, aims(RUNS, {"growth": GROWTH}, FACTS), "abc", 1.0, quick=True)
    assert "This is a quick run" in page
    assert "commit abc" in page
    assert "tidings bench matching --workload flights --subscriptions 2000" in page
    assert "--algorithms all --peers" in page
    assert "| spark-sql | – |" in page
    assert "not installed" in page
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
