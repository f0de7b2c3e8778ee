"""Results as rows of text: for the terminal, for a file, for the report."""

from __future__ import annotations

from collections.abc import Sequence

from tidings.bench.results import Result, Run

HEADER = (
    "algorithm", "events/s", "matches/event", "ns/match", "× floor", "candidates/event", "build s", "subs/s built",
    "bytes/sub", "compile s", "note",
)  # fmt: skip


def rows(results: Sequence[Result]) -> list[tuple[str, ...]]:
    return [_row(result) for result in results]


def title(run: Run) -> str:
    options = ", ".join(f"{name} {value}" for name, value in run.options.items())
    threads = {0: "threads as the default chooses", 1: "one thread"}.get(run.threads, f"{run.threads} threads")
    return f"{run.workload} ({options}): {run.subscriptions:,} subscriptions, {run.events:,} events, {threads}"


def markdown(header: Sequence[str], body: Sequence[Sequence[str]]) -> str:
    """A table whose numbers stand at the right; the first and last columns are words."""
    marks = ["---"] + ["---:"] * (len(header) - 2) + ["---"]
    lines = [header, marks, *body]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def plain(header: Sequence[str], body: Sequence[Sequence[str]]) -> str:
    """Columns aligned by spaces."""
    lines = [tuple(header), *map(tuple, body)]
    widths = [max(len(line[place]) for line in lines) for place in range(len(header))]
    last = len(header) - 1
    return "\n".join(
        "  ".join(
            cell.ljust(width) if place in (0, last) else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )


def number(value: float | None) -> str:
    """Three digits that matter: 12,300 · 45.6 · 0.00789"""
    if value is None:
        return "–"
    if value == 0:
        return "0"
    if abs(value) >= 100:
        digits = len(str(int(abs(value)))) - 3
        return f"{round(value, -max(digits, 0)):,.0f}"
    return f"{value:.3g}" if abs(value) >= 0.001 else f"{value:.1e}"


def _row(result: Result) -> tuple[str, ...]:
    values = (
        result.events_per_s, result.matches_per_event, result.ns_per_match, result.floor_ratio,
        result.candidates_per_event, result.build_s, result.subscriptions_per_s, result.bytes_per_subscription,
        result.compile_s,
    )  # fmt: skip
    return (result.algorithm, *map(number, values), result.note)
