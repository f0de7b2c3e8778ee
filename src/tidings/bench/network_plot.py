"""What networks of servers carry, hold and need, by selectivity, for each distribution and for flooding."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tidings.bench.plots import COLOURS, panels, written
from tidings.bench.table import number
from tidings.overlay.simulation.traffic import Traffic

Found = Sequence[tuple[float, Traffic]]
_PANELS: tuple[tuple[str, Callable[[Traffic], float | None]], ...] = (
    ("messages per event", lambda one: one.messages_per_event),
    ("filters held by a server", lambda one: one.filters_per_server),
    ("seconds until 99 in 100 events came", lambda one: one.slowest_delay),
)


def draw_network(title: str, found: Found, folder: Path) -> list[Path]:
    """Repair has a panel where it was timed."""
    faults = sorted({fault for _, one in found for fault in one.repair})
    drawing, axes = panels(title, len(_PANELS) + bool(faults))
    for (up, read), each in zip(_PANELS, axes, strict=False):
        _draw_lines(each, up, found, read)
    if faults:
        _draw_repair(axes[-1], faults, found)
    handles, labels = axes[0].get_legend_handles_labels()
    drawing.legend(handles, labels, loc="outside lower left", ncols=4, frameon=False, fontsize=9)
    return written(drawing, folder, "network-traffic")


def _draw_lines(axes: Any, up: str, found: Found, read: Callable[[Traffic], float | None]) -> None:
    """What is nothing at all has no place on a logarithmic axis."""
    from matplotlib.ticker import LogLocator

    for place, name in enumerate(_names(found)):
        values = [(share * 100, read(one)) for share, one in found if one.distribution == name]
        points = [(share, value) for share, value in values if value]
        if points:
            colour, mark = COLOURS[place]
            form = {"color": colour, "marker": mark, "markersize": 5, "linewidth": 1.6, "label": name}
            axes.plot(*zip(*points, strict=True), linestyle="--" if place % 2 else "-", **form)  # some lie on others
    axes.set_xscale("log")
    if up.startswith("seconds"):
        axes.set_ylim(bottom=0)
    else:
        axes.set_yscale("log")
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.set_xlabel("% of events that match a subscription")
    axes.set_ylabel(up)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(lambda value, _: number(value))
    axes.minorticks_off()


def _draw_repair(axes: Any, faults: Sequence[str], found: Found) -> None:
    """The longest repair of each fault, whatever the selectivity."""
    names = [name for name in _names(found) if any(one.repair for _, one in found if one.distribution == name)]
    for place, name in enumerate(names):
        longest = [max(one.repair[fault] for _, one in found if one.distribution == name) for fault in faults]
        spots = [spot + (place - (len(names) - 1) / 2) * 0.8 / len(names) for spot in range(len(faults))]
        axes.bar(spots, longest, width=0.8 / len(names), color=COLOURS[_names(found).index(name)][0])
    axes.set_xticks(range(len(faults)), labels=faults)
    axes.set_ylabel("seconds after the fault until all is well")
    axes.grid(axis="x", visible=False)


def _names(found: Found) -> list[str]:
    return list(dict.fromkeys(one.distribution for _, one in found))
