"""Where we lose: every aim that is not met, and everything that was quicker than the default algorithm or `match_one`,
in its own run or in another one of the report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from tidings.bench.aims import Aim
from tidings.bench.one_event import FROM_DICT, IN_BATCHES, OURS, OneRun
from tidings.bench.results import Result, Run
from tidings.bench.table import number, title

DEFAULT = "default"


def losses(runs: Sequence[Run], ones: Sequence[OneRun], shown: Sequence[Aim]) -> list[str]:
    lines = [f"{aim.what}: {aim.shown}, aim {aim.aim}" for aim in shown if aim.met is False]
    for alike in _same_workload(runs):
        lines += _matching(alike)
        for run in alike:
            lines += _building(run)
    for one in ones:
        lines += _one_event(one)
    return lines or ["nowhere in this run"]


def _same_workload(runs: Sequence[Run]) -> list[list[Run]]:
    """Runs of one workload and size: what was measured in one of them may be compared with all."""

    def what(run: Run) -> tuple[str, str, int]:
        return run.workload, repr(sorted(run.options.items())), run.subscriptions

    order = {what(run): place for place, run in reversed(list(enumerate(runs)))}
    return [list(group) for _, group in groupby(sorted(runs, key=lambda run: order[what(run)]), what)]


def _matching(runs: list[Run]) -> Iterator[str]:
    """Results with a higher rate than default, with as many threads or fewer."""
    for run in runs:
        mine = run.result(DEFAULT)
        if mine is None or mine.events_per_s is None:
            continue
        for other in runs:
            if run.threads and (other.threads == 0 or other.threads > run.threads):
                continue
            for one in other.results:
                if one is mine or one.events_per_s is None or one.events_per_s <= mine.events_per_s:
                    continue
                with_threads = f" with {_threads(other)}" if other.threads != run.threads else ""
                yield (
                    f"{title(run)}: {one.algorithm}{with_threads} matches {number(one.events_per_s)} events/s, "
                    f"default {number(mine.events_per_s)}{_aside(one)}"
                )


def _building(run: Run) -> Iterator[str]:
    """Results that build their index faster; one line per run."""
    mine = run.result(DEFAULT)
    if mine is None or mine.subscriptions_per_s is None:
        return
    quicker = [
        f"{one.algorithm} {number(one.subscriptions_per_s)}"
        for one in run.results
        if one.subscriptions_per_s is not None and one.subscriptions_per_s > mine.subscriptions_per_s
    ]
    if quicker:
        rate = number(mine.subscriptions_per_s)
        yield f"{title(run)}: subscriptions a second built or loaded: {', '.join(quicker)}; default {rate}"


def _one_event(run: OneRun) -> Iterator[str]:
    """Each peer that answers more single events a second than `match_one`, from JSON or from a dict."""
    for name in (OURS, FROM_DICT):
        mine = run.result(name)
        if mine is None or mine.rate is None:
            continue
        for one in run.results:
            if one.name not in (OURS, FROM_DICT, IN_BATCHES) and one.rate is not None and one.rate > mine.rate:
                yield (
                    f"{run.title}, one event per call: {one.name} matches {number(one.rate)} events/s, "
                    f"{name} {number(mine.rate)} ({one.note})"
                )


def _threads(run: Run) -> str:
    return {0: "threads chosen", 1: "one thread"}.get(run.threads, f"{run.threads} threads")


def _aside(one: Result) -> str:
    return f" ({one.note})" if one.note else ""
