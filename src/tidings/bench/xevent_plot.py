"""XEvent's figures 7, 8 and 9, redrawn from a simulation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from tidings.bench.plots import canvas, written
from tidings.bench.table import number
from tidings.overlay.xevent.stability import SECONDS, Stability
from tidings.overlay.xevent.traffic import PeerTraffic

_COLOURS = {"XEvent": "#0072B2", "SCRIBE": "#D55E00", "unicast": "#999999", "basic SCRIBE": "#999999"}
_MARKS = {"XEvent": "o", "SCRIBE": "s", "unicast": "^"}
_LINES = ("-", "--", ":")
_WIDEST = 10.0  # penalty on the axis


def draw_xevent(title: str, traffics: Sequence[PeerTraffic], found: Sequence[Stability], folder: Path) -> list[Path]:
    """Figure 9 only if there were crashes."""
    drawn = [*draw_penalties(title, traffics, folder), *draw_stress(title, traffics, folder)]
    return [*drawn, *draw_stability(title, found, folder)] if found else drawn


def draw_penalties(title: str, traffics: Sequence[PeerTraffic], folder: Path) -> list[Path]:
    """Cumulative; dashed: the first document, whose publisher has to find the hosts."""
    drawing, axes = canvas(f"XEvent, figure 7: relative delay penalty\n{title}")
    for one in traffics:
        if one.system != "unicast" and len(one.penalties):
            percent = np.arange(1, len(one.penalties) + 1) / len(one.penalties) * 100
            for penalties, line, note in ((one.penalties, "-", ""), (one.first_penalties, "--", ", first document")):
                label = f"{one.system}{note}: mean {penalties.mean():.1f}, median {np.median(penalties):.1f}"
                axes.plot(penalties, percent, line, color=_COLOURS[one.system], linewidth=1.6, label=label)
    axes.set_xlim(0, _WIDEST)
    axes.set_ylim(0, 100)
    axes.set_xlabel("delay of a document by the delay of a message from the publisher to the subscriber")
    axes.set_ylabel("% of notifications")
    drawing.legend(loc="outside lower left", ncols=2, frameon=False, fontsize=9)
    return written(drawing, folder, "xevent-7")


def draw_stress(title: str, traffics: Sequence[PeerTraffic], folder: Path) -> list[Path]:
    """Links by the copies that they carry: 1, 2 to 3, 4 to 7 and so on."""
    drawing, axes = canvas(f"XEvent, figure 8: link stress\n{title}")
    for one in traffics:
        lows = 2 ** np.arange(max(one.greatest_stress, 1).bit_length())
        links = np.array([one.stress[low : 2 * low].sum() for low in lows])
        some = links > 0
        label = f"{one.system}: mean {one.mean_stress:.3f}, greatest {one.greatest_stress:,}"
        style = {"color": _COLOURS[one.system], "marker": _MARKS[one.system]}
        axes.plot(lows[some], links[some], markersize=5, linewidth=1.6, label=label, **style)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")  # powers of two, unrounded
    axes.yaxis.set_major_formatter(lambda value, _: number(value))
    axes.set_xlabel("copies of a document over a link, up to twice as many")
    axes.set_ylabel("links, for a document")
    drawing.legend(loc="outside lower left", ncols=2, frameon=False, fontsize=9)
    return written(drawing, folder, "xevent-8")


def draw_stability(title: str, found: Iterable[Stability], folder: Path) -> list[Path]:
    drawing, axes = canvas(f"XEvent, figure 9: stability\n{title}")
    shares: list[float] = []
    for one in found:
        if one.crashed not in shares:
            shares.append(one.crashed)
        line = _LINES[shares.index(one.crashed) % len(_LINES)]
        label = f"{one.system}, {one.crashed:.0%} crashed"
        axes.plot(SECONDS, one.reached * 100, line, color=_COLOURS[one.system], linewidth=1.6, label=label)
    axes.set_ylim(0, 102)
    axes.set_xlabel("seconds after the crash")
    axes.set_ylabel("% of live subscribers reached")
    drawing.legend(loc="outside lower left", ncols=3, frameon=False, fontsize=8)
    return written(drawing, folder, "xevent-9")
