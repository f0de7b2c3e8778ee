"""The share of live subscribers that documents reach after a crash, over time (XEvent, section V, figure 9)."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tidings.overlay.xevent.recovery import Periods, Recovery
from tidings.overlay.xevent.rejoining import Rejoining
from tidings.overlay.xevent.traffic import World

SECONDS = tuple(range(61))


@dataclass(frozen=True, slots=True)
class Stability:
    """The mean over several crashes; `reached[n]` is the share at SECONDS[n] after the crash."""

    system: str
    crashed: float  # share of the peers
    reached: npt.NDArray[np.float64]
    least: float  # right after the worst of the crashes
    whole: int | None  # seconds until everyone was reached, after each of the crashes; None: never


def stability(
    made: World,
    share: float,
    crashes: int,
    periods: Periods | None = None,
    advance: Callable[[str], None] = lambda _: None,
) -> list[Stability]:
    """Of XEvent, SCRIBE and SCRIBE without repair, over this many crashes."""
    rows: dict[str, list[list[float]]] = {"XEvent": [], "SCRIBE": [], "basic SCRIBE": []}
    for number in range(crashes):
        advance(f"crashing {share:.0%}")
        chosen = random.Random((made.setting.seed * 1000 + number) * 1000 + round(share * 100))
        left = made.peers.after_crash(chosen.sample(range(made.peers.count), round(made.peers.count * share)))
        systems: tuple[tuple[str, Recovery | Rejoining], ...] = (
            ("XEvent", Recovery(made.xevent, left, chosen, periods)),
            ("SCRIBE", Rejoining(made.scribe, left, chosen, periods)),
            ("basic SCRIBE", Rejoining(made.scribe, left, chosen, periods, repair=False)),
        )
        for name, system in systems:
            rows[name].append(_shares(system))
    return [_summed(name, share, np.array(found)) for name, found in rows.items()]


def _shares(system: Recovery | Rejoining) -> list[float]:
    shares: list[float] = []
    for second in SECONDS:
        if system.run(second) or not shares:
            shares.append(system.reached() / max(len(system.subscriptions), 1))
        else:
            shares.append(shares[-1])
    return shares


def _summed(name: str, share: float, found: npt.NDArray[np.float64]) -> Stability:
    everyone = np.flatnonzero((found == 1).all(0))
    whole = int(everyone[0]) if len(everyone) else None
    return Stability(name, share, found.mean(0), float(found[:, 0].min()), whole)
