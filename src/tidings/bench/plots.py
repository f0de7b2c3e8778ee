"""Figures to files, SVG and PNG. Nothing is measured here."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

from tidings.bench.figures import Figure
from tidings.bench.results import Run
from tidings.bench.stream import StreamResult
from tidings.bench.table import number, title
from tidings.errors import TidingsError

# One colour and mark for each algorithm, the same in every figure; told apart by colour-blind eyes and in grey.
_STYLES = {
    "default": ("#0072B2", "o"),
    "counting": ("#D55E00", "s"),
    "equality-preferred": ("#009E73", "^"),
    "quarantine": ("#CC79A7", "D"),
}
COLOURS = (("#0072B2", "o"), ("#D55E00", "s"), ("#009E73", "^"), ("#E69F00", "v"))
_FORMS = ("svg", "png")
_FEWER = "only"  # as the notes of peers have it


class PlotsMissing(TidingsError):
    def __str__(self) -> str:
        return "plots need matplotlib: pip install 'tidings[bench]'"


def draw_figure(figure: Figure, folder: Path) -> list[Path]:
    """Lines of points; their fitted exponents in the legend."""
    drawing, axes = canvas(figure.title)
    from matplotlib.ticker import LogLocator, NullLocator

    for place, (name, points) in enumerate(figure.lines.items()):
        if not points:
            continue
        colour, mark = _STYLES.get(name, COLOURS[place % len(COLOURS)])
        label = name
        if name in figure.exponents:
            whole, end = figure.exponents[name]
            label += f": n^{whole:.2f}, the last three points n^{end:.2f}"
        across, up = zip(*points, strict=True)
        axes.plot(across, up, color=colour, marker=mark, markersize=5, linewidth=1.6, label=label)
    axes.set_yscale("log")
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_minor_locator(NullLocator())
    if figure.logarithmic:
        axes.set_xscale("log")
        _plain_counts(axes, sorted({x for points in figure.lines.values() for x, _ in points}))
    axes.set_xlabel(figure.across)
    axes.set_ylabel(figure.up)
    axes.yaxis.set_major_formatter(lambda value, _: number(value))
    columns = 1 if figure.exponents else 2
    drawing.legend(loc="outside lower left", ncols=columns, frameon=False, fontsize=9)  # beside no line's way
    return written(drawing, folder, figure.name)


def draw_run(run: Run, folder: Path) -> list[Path]:
    """A bar for each algorithm and peer: events a second."""
    rates = [
        (
            one.algorithm + (" *" if _FEWER in one.note and "extrapolated" not in one.note else ""),
            one.kind,
            one.events_per_s,
        )
        for one in run.results
        if one.events_per_s is not None
    ]
    drawing, axes = canvas(title(run).replace("): ", ")\n"), height=1.2 + 0.32 * len(rates))
    names, kinds, values = zip(*reversed(rates), strict=True) if rates else ((), (), ())
    colours = ["#0072B2" if kind == "algorithm" else "#999999" for kind in kinds]
    axes.barh(names, values, color=colours)
    for place, value in enumerate(values):
        axes.annotate(f" {number(value)}", (value, place), va="center", fontsize=8)
    axes.set_xscale("log")
    axes.margins(x=0.15)
    axes.grid(axis="y", visible=False)
    axes.xaxis.set_major_formatter(lambda value, _: number(value))
    axes.minorticks_off()
    axes.set_xlabel("events/s; peers in grey, * with fewer subscriptions")
    return written(drawing, folder, f"matching-{run.workload}")


def canvas(title: str, height: float = 4.2) -> tuple[Any, Any]:
    drawing = _drawing(7, height)
    axes = _axes(drawing)
    axes.set_title(title, fontsize=10, loc="left")
    return drawing, axes


def panels(title: str, count: int) -> tuple[Any, list[Any]]:
    """Two beside each other."""
    rows = (count + 1) // 2
    drawing = _drawing(10, 3.6 * rows)
    drawing.suptitle(title, fontsize=10, x=0.01, ha="left")
    return drawing, [_axes(drawing, rows, 2, place) for place in range(1, count + 1)]


def _drawing(width: float, height: float) -> Any:
    if find_spec("matplotlib") is None:
        raise PlotsMissing
    from matplotlib.figure import Figure as Drawing

    return Drawing(figsize=(width, height), layout="constrained")


def _axes(drawing: Any, *place: int) -> Any:
    axes = drawing.add_subplot(*place)
    axes.grid(visible=True, which="major", color="#dddddd", linewidth=0.7)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    return axes


def _plain_counts(axes: Any, counts: list[float]) -> None:
    """The numbers that were measured, not powers of ten: 10k, 3.2M."""
    axes.set_xticks(counts, labels=[_short(count) for count in counts], fontsize=8)
    axes.minorticks_off()


def _short(count: float) -> str:
    if count >= 1_000_000:
        return f"{count / 1_000_000:g}M"
    return f"{count / 1000:g}k" if count >= 1000 else f"{count:g}"


def written(drawing: Any, folder: Path, name: str) -> list[Path]:
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{name}.{form}" for form in _FORMS]
    for path in paths:
        drawing.savefig(path, dpi=144, metadata={"Date": None} if path.suffix == ".svg" else None)
    return paths


def draw_stream(result: StreamResult, folder: Path) -> list[Path]:
    """Memory of the pipeline's processes while events went through."""
    drawing, axes = canvas(f"Memory while {result.events:,} events go through the stream")
    seconds, drivers, workers = zip(*result.memory, strict=True)
    for name, held, (colour, _) in (("driver and Java", drivers, COLOURS[0]), ("Python workers", workers, COLOURS[1])):
        axes.plot(seconds, [one / 1e6 for one in held], color=colour, linewidth=1.6, label=name)
    axes.set_xlabel("seconds")
    axes.set_ylabel("megabytes (pages that are shared count in part)")
    axes.set_ylim(bottom=0)
    drawing.legend(loc="outside lower left", ncols=2, frameon=False, fontsize=9)
    return written(drawing, folder, "stream-memory")
