"""`docs/performance.md`, from one run of everything: `tidings bench report`, or `python -m tidings.bench.report`."""

from __future__ import annotations

import argparse
import sys
from importlib.resources import files
from pathlib import Path
from time import perf_counter

from tidings.bench.aims import Aim, aims
from tidings.bench.figures import Figure, measured_figures
from tidings.bench.losses import losses
from tidings.bench.machine import Machine, commit
from tidings.bench.matching import Say, quiet
from tidings.bench.one_event import HEADER as HEADER_OF_ONE
from tidings.bench.one_event import OneRun
from tidings.bench.results import Run
from tidings.bench.sections import OneSection, Section, measured_one_event, measured_sections
from tidings.bench.standing import standing_facts, text_facts
from tidings.bench.table import HEADER, markdown, number, rows, title


def write_report(folder: Path, quick: bool = False, say: Say = quiet) -> list[Path]:
    """Measures, draws, writes; returns the files. Nothing is written before all is measured."""
    from tidings.bench.plots import draw_figure, draw_run

    started, made_at = perf_counter(), commit()
    measured = list(measured_sections(quick, say))
    ones = list(measured_one_event(quick, say))
    figures = {figure.name: figure for figure in measured_figures(quick, say)}
    say("changes, plans, first use, filters as text")
    facts = standing_facts(20_000 if quick else 1_000_000, 50_000 if quick else 3_200_000, 0.5 if quick else 3.0)
    facts += text_facts(2_000 if quick else 100_000)
    runs = {section.name: run for section, run in measured}
    minutes = (perf_counter() - started) / 60
    written = []
    for figure in figures.values():
        written += draw_figure(figure, folder / "images")
    for name in ("everyone", "flights"):
        written += draw_run(runs[name], folder / "images")
    page = folder / "performance.md"
    shown = aims(runs, {section.name: run for section, run in ones}, figures, facts)
    page.write_text(_page(measured, ones, figures, shown, made_at, minutes, quick), encoding="utf-8")
    return [*written, page]


def _page(
    measured: list[tuple[Section, Run]],
    ones: list[tuple[OneSection, OneRun]],
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
    lost = losses([run for _, run in measured], [run for _, run in ones], shown)
    parts = [
        f"# Performance\n\n{warning}Made by `{command}` in {minutes:.0f} minutes on commit {made_at}.\n\n"
        f"- machine: {machine}\n- libraries: {packages}",
        (texts / "method.md").read_text(encoding="utf-8").strip(),
        "## What was to be shown\n\n" + markdown(("what", "aim", "shown", "met"), [aim.row for aim in shown]),
        "## Where we lose\n\n" + "\n".join(f"- {line}" for line in lost),
        *(_section(section, run) for section, run in measured),
        *(_one_event(section, run) for section, run in ones),
        "## The papers' figures\n\n"
        "```sh\ntidings bench figures --output docs/images\n```\n\n"
        + "\n\n".join(_image(figure.name, figure.title, figure.note) for figure in figures.values()),
        (texts / "errors.md").read_text(encoding="utf-8").strip(),
    ]
    return "\n\n".join(parts) + "\n"


def _one_event(section: OneSection, run: OneRun) -> str:
    table = markdown(HEADER_OF_ONE, run.rows())
    return f"## {section.title}\n\n```sh\n{section.command}\n```\n\n{run.title}.\n\n{table}"


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
