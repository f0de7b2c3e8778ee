"""`docs/performance.md`, from one run of everything: `tidings bench report`, or `python -m tidings.bench.report`."""

from __future__ import annotations

import argparse
import sys
from importlib.resources import files
from pathlib import Path
from time import perf_counter

from tidings.bench.aims import Aim, aims
from tidings.bench.figures import Figure, measured_figures
from tidings.bench.machine import Machine, commit
from tidings.bench.matching import Say, quiet
from tidings.bench.results import Run
from tidings.bench.sections import Section, measured_sections, rate
from tidings.bench.standing import standing_facts
from tidings.bench.table import HEADER, markdown, number, rows, title


def write_report(folder: Path, quick: bool = False, say: Say = quiet) -> list[Path]:
    """Measures, draws, writes; returns the files. Nothing is written before all is measured."""
    from tidings.bench.plots import draw_figure, draw_run

    started, made_at = perf_counter(), commit()
    measured = list(measured_sections(quick, say))
    figures = {figure.name: figure for figure in measured_figures(quick, say)}
    say("changes, plans, first use")
    facts = standing_facts(20_000 if quick else 1_000_000, 50_000 if quick else 3_200_000, 0.5 if quick else 3.0)
    runs = {section.name: run for section, run in measured}
    minutes = (perf_counter() - started) / 60
    written = []
    for figure in figures.values():
        written += draw_figure(figure, folder / "images")
    for name in ("everyone", "flights"):
        written += draw_run(runs[name], folder / "images")
    page = folder / "performance.md"
    page.write_text(_page(measured, figures, aims(runs, figures, facts), made_at, minutes, quick), encoding="utf-8")
    return [*written, page]


def _page(
    measured: list[tuple[Section, Run]],
    figures: dict[str, Figure],
    shown: list[Aim],
    made_at: str,
    minutes: float,
    quick: bool,
) -> str:
    machine = Machine.here()
    packages = ", ".join(f"{name} {version}" for name, version in machine.packages.items())
    command = "tidings bench report --output docs" + (" --quick" if quick else "")
    warning = "**This is a quick run, to see that it works: its numbers say nothing.**\n\n" if quick else ""
    texts = files("tidings.bench") / "texts"
    parts = [
        f"# Performance\n\n{warning}Made by `{command}` in {minutes:.0f} minutes on commit {made_at}.\n\n"
        f"- machine: {machine}\n- libraries: {packages}",
        (texts / "method.md").read_text(encoding="utf-8").strip(),
        "## What was to be shown\n\n" + markdown(("what", "aim", "shown", "met"), [aim.row for aim in shown]),
        "## Where we lose\n\n" + "\n".join(f"- {line}" for line in losses([run for _, run in measured], shown)),
        *(_section(section, run) for section, run in measured),
        "## The papers' figures\n\n"
        "```sh\ntidings bench figures --output docs/images\n```\n\n"
        + "\n\n".join(_image(figure.name, figure.title, figure.note) for figure in figures.values()),
        (texts / "errors.md").read_text(encoding="utf-8").strip(),
    ]
    return "\n\n".join(parts) + "\n"


def losses(runs: list[Run], shown: list[Aim]) -> list[str]:
    """Every aim that is not met, and whoever is quicker than the default algorithm anywhere."""
    lines = [f"{aim.what}: {aim.shown}, aim {aim.aim}" for aim in shown if aim.met is False]
    for run in runs:
        mine = rate(run, "default") or 0.0
        for one in run.results:
            if one.events_per_s is not None and one.events_per_s > mine:
                aside = f" ({one.note})" if one.note else ""
                lines.append(
                    f"{title(run)}: {one.algorithm} matches {number(one.events_per_s)} events/s, "
                    f"default {number(mine)}{aside}"
                )
    return lines or ["nowhere in this run"]


def _section(section: Section, run: Run) -> str:
    said = f"{title(run)}. Only writing a match takes {number(run.floor_ns_per_match)} ns."
    table = markdown(HEADER, rows(run.results))
    image = ""
    if section.name in ("everyone", "flights"):
        image = "\n\n" + _image(f"matching-{run.workload}", section.title)
    return f"## {section.title}\n\n```sh\n{section.command}\n```\n\n{said}\n\n{table}{image}"


def _image(name: str, text: str, note: str = "") -> str:
    return f"![{text}](images/{name}.svg)" + (f"\n\n{note}" if note else "")


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure everything and write performance.md and its images.")
    parser.add_argument("--output", type=Path, default=Path("docs"))
    parser.add_argument("--quick", action="store_true", help="small numbers, to see that it works")
    given = parser.parse_args()
    for path in write_report(given.output, given.quick, lambda message: print(f"  {message} …", file=sys.stderr)):
        print(f"wrote {path}")


if __name__ == "__main__":
    main()
