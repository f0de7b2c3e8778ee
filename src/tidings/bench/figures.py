"""The papers' figures, measured with our algorithms: what is on which axis, and at which numbers. `plots` draws
them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter

from tidings.bench.agreement import built
from tidings.bench.growth import Rarer, exponent, narrower
from tidings.bench.matching import Say, agree, quiet
from tidings.bench.measurement import Prepared, measure
from tidings.bench.results import Measured
from tidings.language import Subscription
from tidings.workloads import LeSubscribe, Thesis, Workload

PAPERS = ("counting", "equality-preferred", "quarantine")
_EVENTS = 4000
_SECONDS = 1.0  # to match, of each point

Points = list[tuple[float, float]]


@dataclass(frozen=True)
class Figure:
    """Points by the name of their line, time on the vertical axis."""

    name: str
    title: str
    across: str
    up: str
    lines: dict[str, Points]
    logarithmic: bool = True
    exponents: dict[str, tuple[float, float]] = field(default_factory=dict)  # over all points, and over the last three
    note: str = ""


def measured_figures(quick: bool = False, say: Say = quiet) -> Iterator[Figure]:
    """All of them, one after the other; with `quick` small enough to see that it works."""
    few = 20 if quick else 1
    for make in (thesis_8_1, thesis_8_2, le_subscribe_9, le_subscribe_10, le_subscribe_11, growth):
        yield make(few, say)


def thesis_8_1(few: int = 1, say: Say = quiet) -> Figure:
    sizes = [size // few for size in (10_000, 20_000, 40_000, 80_000, 160_000, 320_000)]
    lines = _lines(sizes, lambda _: Thesis(), ("counting", "default"), lambda size: size, "thesis 8.1", say)
    return Figure(
        "thesis-8-1", "Thesis, figure 8.1: processing an event", "subscriptions", "µs per event", lines,
        note="The thesis measures only counting, and finds it close to linear.",
    )  # fmt: skip


def thesis_8_2(few: int = 1, say: Say = quiet) -> Figure:
    """Adding one: default until the next event sees it; counting of ours builds anew, which is the time of a whole
    load."""
    lines: dict[str, Points] = {"default: one add and one event": [], "counting: building anew": []}
    for size in (size // few for size in (10_000, 40_000, 160_000, 320_000)):
        say(f"thesis 8.2: {size:,} subscriptions")
        prepared = Prepared.of(Thesis(), size, 100)
        more = Thesis().subscriptions(200, start=size)
        matcher = built("default", prepared.workload.catalog, prepared.boxes, prepared.ids)
        one = prepared.batch.slice(0, 1)
        matcher.match(one)
        new = [Subscription(f"new{number}", more.filter(number)) for number in range(200)]
        started = perf_counter()
        for subscription in new:
            matcher.add(subscription)
            matcher.match(one)
        lines["default: one add and one event"].append((size, (perf_counter() - started) / 200 * 1e6))
        started = perf_counter()
        built("counting", prepared.workload.catalog, prepared.boxes, prepared.ids)
        lines["counting: building anew"].append((size, (perf_counter() - started) * 1e6))
    return Figure(
        "thesis-8-2", "Thesis, figure 8.2: adding a subscription", "subscriptions", "µs per add", lines,
        note="The thesis's counting updates its table in place; ours is for a static set of filters and rebuilds it.",
    )  # fmt: skip


def le_subscribe_9(few: int = 1, say: Say = quiet) -> Figure:
    sizes = [size // few for size in (100_000, 200_000, 400_000, 800_000, 1_600_000)]
    names = (*PAPERS, "default")
    lines = _lines(sizes, lambda _: LeSubscribe(0.5), names, lambda size: size, "Le Subscribe 9", say)
    return Figure(
        "le-subscribe-9", "Le Subscribe, figure 9: p = 0.5", "subscriptions", "µs per event", lines,
        note="Twice the subscriptions give twice the matches. The paper does not have `default`.",
    )  # fmt: skip


def le_subscribe_10(few: int = 1, say: Say = quiet) -> Figure:
    size = 800_000 // few
    shares = [0.0, 0.25, 0.5, 0.75, 1.0]
    names = (*PAPERS, "default")
    lines = _lines(shares, lambda share: LeSubscribe(share), names, lambda _: size, "Le Subscribe 10", say)
    return Figure(
        "le-subscribe-10", f"Le Subscribe, figure 10: {size:,} subscriptions", "p: share of = on numbers",
        "µs per event", lines, logarithmic=False,
    )  # fmt: skip


def le_subscribe_11(few: int = 1, say: Say = quiet) -> Figure:
    sizes = [size // few for size in (100_000, 200_000, 400_000, 800_000, 1_600_000, 3_200_000)]
    names = ("equality-preferred", "default")
    lines = _lines(sizes, lambda _: LeSubscribe(1.0), names, lambda size: size, "Le Subscribe 11", say)
    return Figure("le-subscribe-11", "Le Subscribe, figure 11: equality only", "subscriptions", "µs per event", lines)


def growth(few: int = 1, say: Say = quiet) -> Figure:
    """Default at a fixed number of matches an event."""
    sizes = [size // few for size in (10_000, 30_000, 100_000, 300_000, 1_000_000, 2_000_000, 5_000_000)]
    ranges = [size for size in sizes if size <= 1_000_000]
    lines = {
        "equality (Le Subscribe, p = 1)": _lines(
            sizes, lambda size: Rarer.to(int(size)), ("default",), lambda size: size, "growth", say
        )["default"],
        "ranges (rein)": _lines(
            ranges, lambda size: narrower(int(size)), ("default",), lambda size: size, "growth", say
        )["default"],
    }
    exponents = {name: (exponent(points), exponent(points[-3:])) for name, points in lines.items()}
    return Figure(
        "growth", "Growth at a fixed number of matches", "subscriptions", "µs per event", lines, exponents=exponents,
        note="Domains grow, or ranges narrow, in proportion to the subscriptions, so matches per event stay constant.",
    )  # fmt: skip


def _lines(
    points: list[float] | list[int],
    workload: Callable[[float], Workload],
    names: tuple[str, ...],
    size: Callable[[float], float],
    what: str,
    say: Say,
) -> dict[str, Points]:
    """Microseconds per event of each algorithm at each point; all must agree."""
    lines: dict[str, Points] = {name: [] for name in names}
    for point in points:
        say(f"{what}: {point:,}")
        prepared = Prepared.of(workload(point), int(size(point)), _EVENTS)
        measured: list[Measured] = []
        for name in names:
            one = measure(name, prepared, seconds=_SECONDS)
            measured.append(one)
            if one.result.events_per_s is not None:
                lines[name].append((point, 1e6 / one.result.events_per_s))
        agree(measured)
    return lines


def draw_figures(folder: Path, quick: bool = False, say: Say = quiet) -> list[Path]:
    """Measures and draws all figures; returns the files."""
    from tidings.bench.plots import draw_figure

    written = []
    for figure in measured_figures(quick, say):
        written += draw_figure(figure, folder)
    return written
