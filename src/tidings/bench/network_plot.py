"""Messages for an event, by selectivity, for each distribution and for flooding."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tidings.bench.figures import Figure
from tidings.bench.plots import draw_figure
from tidings.overlay.simulation.traffic import Traffic


def draw_network(title: str, found: Sequence[tuple[float, Traffic]], folder: Path) -> list[Path]:
    """What carries nothing at all has no place on a logarithmic axis."""
    lines: dict[str, list[tuple[float, float]]] = {}
    for share, one in found:
        if one.messages_per_event > 0:
            lines.setdefault(one.distribution, []).append((share * 100, one.messages_per_event))
    return draw_figure(
        Figure("network-traffic", title, "% of events that match a subscription", "messages per event", lines), folder
    )
