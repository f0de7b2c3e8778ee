"""The demo for as long as you like, and how its memory behaves: `python -m tests.demo.soak --minutes 30`.

It runs in a temporary folder on free ports. Every few seconds the memory of each of its processes and the service's
figures are noted; beside, one client follows the stream of notifications and a visitor looks at the pages. In the end
a table is printed and, where asked for, a plot drawn. The exit code is 1 where a log has an error or a warning, or
where events stopped coming.
"""

from __future__ import annotations

import argparse
import signal
import sys
import tempfile
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import numpy as np

from tests.demo.shown import Shown, Visitor
from tests.service.served import alive, descendants
from tidings.client import Client
from tidings.demo.wishes import ANN

EVERY = 10.0  # seconds between two looks
GAP = 45.0  # seconds without a new event: the flights' nights and a restart are shorter
# By what stands in their command; the first that fits, else it is the pipeline. Java's has pyspark's path, too.
KINDS = {"-m tidings.demo": "feeds", "cli.main outbox": "outbox", "bin/java": "java", "pyspark": "workers"}
FIGURES = ("journal_position", "notifications_total", "lag", "stored_events")
# Java says this of the flag that Spark's own launcher sets.
KNOWN = ("WARNING: Using incubator modules: jdk.incubator.vector",)
PAGES = ("/", "/pages/now", "/pages/subscriptions", "/pages/schema", "/pages/publish", "/pages/account")
COLOURS = {
    "serve": "#0072B2",
    "pipeline": "#D55E00",
    "java": "#009E73",
    "workers": "#CC79A7",
    "outbox": "#E69F00",
    "feeds": "#999999",
}


@dataclass
class Look:
    at: float  # seconds since the start
    memory: dict[str, float]  # megabytes by kind of process
    figures: dict[str, float]


@dataclass
class Soak:
    looks: list[Look] = field(default_factory=list)
    streamed: int = 0
    visits: int = 0
    problems: list[str] = field(default_factory=list)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--plot", type=Path, help="an .svg; a .png is drawn beside it")
    chosen = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="tidings-soak-") as folder, Shown(Path(folder)) as shown:
        soak = watched(shown, 60 * chosen.minutes)
        family = descendants(shown.process.pid)
        code = shown.stop(signal.SIGINT)
        soak.problems += [f"it ended with {code}"] if code else []
        soak.problems += [f"left behind: {command}" for command in alive(family).values()]
        soak.problems += [f"standard error: {line}" for line in shown.errors.splitlines()]
        soak.problems += list(complaints(Path(folder)))
        print(
            "\n".join(shown.lines[1:3] + [line for line in shown.lines if " s after " in line or "came after" in line])
        )
    print(table(soak))
    for problem in soak.problems:
        print(f"problem: {problem}")
    if chosen.plot is not None:
        draw(soak, chosen.plot)
    return 1 if soak.problems else 0


def watched(shown: Shown, seconds: float) -> Soak:
    """What was seen until then."""
    soak, ended = Soak(), threading.Event()
    works = [threading.Thread(target=work, args=(shown, soak, ended), daemon=True) for work in (_follow, _visit)]
    for work in works:
        work.start()
    last, changed = -1.0, shown.seconds
    while shown.seconds < seconds and shown.process.poll() is None:
        figures = figures_of(shown)
        soak.looks.append(Look(shown.seconds, memory_of(shown.process.pid), figures))
        if figures.get("journal_position", last) != last:
            last, changed = figures["journal_position"], shown.seconds
        elif shown.seconds - changed > GAP:
            soak.problems.append(f"no event came from second {changed:.0f} to {shown.seconds:.0f}")
            changed = shown.seconds
        ended.wait(EVERY)
    if shown.process.poll() is not None:
        soak.problems.append(f"the demo ended by itself at second {shown.seconds:.0f}")
    ended.set()
    return soak


def memory_of(process: int) -> dict[str, float]:
    """Resident megabytes by kind, of the demo and all that come from it."""
    found = {"serve": resident(process)}
    for one, command in alive(descendants(process)).items():
        kind = next((kind for words, kind in KINDS.items() if words in command), "pipeline")
        before = found.get(kind, 0.0)
        # There is one Java. A second is a fork that is about to become `chmod`, and shares its memory.
        found[kind] = max(before, resident(one.id)) if kind == "java" else before + resident(one.id)
    return found


def resident(process: int) -> float:
    with suppress(OSError):
        for line in Path(f"/proc/{process}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) / 1024
    return 0.0


def figures_of(shown: Shown) -> dict[str, float]:
    """By name, and deliveries with their outcome; what cannot be asked just now is left out."""
    try:
        text = httpx.get(f"http://127.0.0.1:{shown.port}/metrics", timeout=30, trust_env=False).text
    except httpx.HTTPError:
        return {}
    found: dict[str, float] = {}
    for line in text.splitlines():
        name, _, value = line.removeprefix("tidings_").rpartition(" ")
        if name in FIGURES:
            found[name] = float(value)
        elif name.startswith("deliveries_total"):
            outcome = name.partition('outcome="')[2].partition('"')[0]
            found[outcome] = found.get(outcome, 0.0) + float(value)
    return found


def _follow(shown: Shown, soak: Soak, ended: threading.Event) -> None:
    """A client that reads every notification of Ann's as it comes."""
    with Client(f"http://127.0.0.1:{shown.port}") as client:
        client.token = shown.log_in(ANN)
        for _ in client.stream():
            soak.streamed += 1
            if ended.is_set():
                return


def _visit(shown: Shown, soak: Soak, ended: threading.Event) -> None:
    with Visitor(shown) as visitor:
        while not ended.is_set():
            for page in PAGES:
                try:
                    visitor.text(page)
                    soak.visits += 1
                except httpx.HTTPError as problem:
                    if not ended.is_set():
                        soak.problems.append(f"{page}: {problem}")
                if ended.wait(3):
                    break


def complaints(folder: Path) -> Iterable[str]:
    """Lines of the logs that speak of an error or a warning."""
    for log in sorted(folder.glob("*.log*")):
        for line in log.read_text(errors="replace").splitlines():
            words = line.lower()
            if line.strip() not in KNOWN and any(word in words for word in ("error", "warn", "exception", "traceback")):
                yield f"{log.name}: {line}"


def slope(points: list[tuple[float, float]]) -> float:
    """Megabytes an hour, by least squares."""
    if len(points) < 3:
        return 0.0
    seconds, megabytes = zip(*points, strict=True)
    return float(np.polyfit(seconds, megabytes, 1)[0]) * 3_600


def table(soak: Soak) -> str:
    looks = soak.looks
    if not looks:
        return "nothing was seen"
    end = looks[-1].at
    shown: list[tuple[str, Callable[[str], str]]] = [
        ("MB at 5 min", lambda kind: f"{_near(looks, 300).memory.get(kind, 0):,.0f}"),
        ("at the half", lambda kind: f"{_near(looks, end / 2).memory.get(kind, 0):,.0f}"),
        ("at the end", lambda kind: f"{looks[-1].memory.get(kind, 0):,.0f}"),
        ("MB/hour, 2nd half", lambda kind: f"{slope(_later(looks, kind, end / 2)):+,.1f}"),
    ]
    lines = [f"{'':10}" + "".join(f"{name:>19}" for name, _ in shown)]
    for kind in [*COLOURS, *sorted({kind for look in looks for kind in look.memory} - COLOURS.keys())]:
        lines.append(f"{kind:10}" + "".join(f"{value(kind):>19}" for _, value in shown))
    last = next((look.figures for look in reversed(looks) if look.figures), {})
    lags = [look.figures["lag"] for look in looks if "lag" in look.figures and look.at > 60]
    lines += [
        f"{end / 60:.1f} minutes, {last.get('stored_events', 0):,.0f} events, "
        f"{last.get('notifications_total', 0):,.0f} matches, "
        f"{last.get('delivered', 0):,.0f} deliveries, {last.get('dead', 0):,.0f} given up",
        f"lag after the first minute: median {np.median(lags) if lags else 0:,.0f}, most {max(lags, default=0):,.0f}",
        f"{soak.streamed:,} notifications over the stream, {soak.visits:,} pages, {len(soak.problems):,} problems",
    ]
    return "\n".join(lines)


def _near(looks: list[Look], at: float) -> Look:
    return min(looks, key=lambda look: abs(look.at - at))


def _later(looks: list[Look], kind: str, start: float) -> list[tuple[float, float]]:
    return [(look.at, look.memory[kind]) for look in looks if look.at >= start and kind in look.memory]


def draw(soak: Soak, path: Path) -> None:
    from matplotlib.figure import Figure

    drawing = Figure(figsize=(7, 4.2), layout="constrained")
    axes = drawing.add_subplot()
    axes.set_title("Memory of the demo's processes", fontsize=10, loc="left")
    axes.grid(visible=True, color="#dddddd", linewidth=0.7)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    for kind, colour in COLOURS.items():
        points = [(look.at / 60, look.memory[kind]) for look in soak.looks if kind in look.memory]
        if points:
            axes.plot(*zip(*points, strict=True), color=colour, linewidth=1.6, label=kind)
    axes.set_xlabel("minutes")
    axes.set_ylabel("megabytes, resident")
    axes.set_ylim(bottom=0)
    drawing.legend(loc="outside lower left", ncols=3, frameon=False, fontsize=9)
    for form in (path.with_suffix(".svg"), path.with_suffix(".png")):
        drawing.savefig(form, dpi=144, metadata={"Date": None} if form.suffix == ".svg" else None)


if __name__ == "__main__":
    sys.exit(main())
