"""`tidings simulate xevent`: documents on a hash table of peers, by XEvent and by SCRIBE."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from tidings.cli.terminal import messages, output, plain_errors, progress

if TYPE_CHECKING:
    import numpy.typing as npt

    from tidings.overlay.xevent.stability import Stability
    from tidings.overlay.xevent.traffic import PeerTraffic

_SHOWN = (0, 10, 20, 25, 30, 60)  # seconds after the crash
_SHARES = (0.1, 0.2, 0.3)


def xevent(
    peers: Annotated[int, typer.Option(min=2, max=1_000_000, help="How many, at 5,050 routers.")] = 2000,
    paths: Annotated[int, typer.Option(min=1, help="How many, each from a different peer.")] = 256,
    documents: Annotated[int, typer.Option(min=1, help="How many, each from another peer.")] = 20,
    nearest_of: Annotated[
        int,
        typer.Option(min=1, help="Peers that an entry of a routing table is the nearest of; 1: any.", metavar="N"),
    ] = 16,
    crashed: Annotated[
        list[float] | None,
        typer.Option(
            min=0, max=0.9, help="The share of peers that crash, else 0.1, 0.2 and 0.3. May be repeated.", metavar="N"
        ),
    ] = None,
    crashes: Annotated[int, typer.Option(min=0, help="Crashes of each share, to average over; 0: none.")] = 5,
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same figures.")] = 1,
    plot: Annotated[
        Path | None, typer.Option(metavar="DIR", file_okay=False, help="Also draw the paper's figures 7, 8 and 9.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="For machines.")] = False,
) -> None:
    """Simulate XEvent and SCRIBE: relative delay penalty, link stress, and who is reached after a crash.

    Example: tidings simulate xevent --peers 100000 --paths 4096 --crashes 20 --plot plots
    """
    from tidings.overlay.xevent.stability import stability
    from tidings.overlay.xevent.traffic import PeerSetting, compare, world

    shares = crashed or list(_SHARES)
    found: list[Stability] = []
    with plain_errors(), progress() as bar:
        task = bar.add_task("simulating", total=2 + -(-paths // 64) + documents + len(shares) * crashes)

        def advance(what: str) -> None:
            bar.update(task, description=what, advance=1)

        made = world(PeerSetting(peers, paths, documents, nearest_of, seed), advance)
        traffics, saved = compare(made, advance)
        for share in shares if crashes else ():
            found += stability(made, share, crashes, advance=advance)
        if plot is not None:
            from tidings.bench.xevent_plot import draw_xevent

            for path in draw_xevent(f"{peers:,} peers, {paths:,} paths", traffics, found, plot):
                messages.print(f"wrote {path}", markup=False)
    if as_json:
        for row in (*map(_figures, traffics), {"untested": saved}, *map(_reached, found)):
            typer.echo(json.dumps(row))
        return
    output.print(_traffic_table(traffics))
    output.print(f"matches that covering found without a test: {saved:.0%}", highlight=False)
    if found:
        output.print(_stability_table(found))


def _figures(one: PeerTraffic) -> dict[str, object]:
    import numpy as np

    def middle(penalties: npt.NDArray[np.float64]) -> dict[str, float | None]:
        if not len(penalties):
            return {"mean": None, "median": None, "95%": None}
        return {
            "mean": float(penalties.mean()),
            "median": float(np.median(penalties)),
            "95%": float(np.quantile(penalties, 0.95)),
        }

    return {
        "system": one.system,
        "penalty": middle(one.penalties) | {"of totals": one.total_penalty},
        "penalty of the first document": middle(one.first_penalties),
        "stress": {"mean": one.mean_stress, "greatest": one.greatest_stress},
        "sends": one.sends,
        "missed": one.missed,
    }


def _reached(one: Stability) -> dict[str, object]:
    return {
        "system": one.system,
        "crashed": one.crashed,
        "reached": one.reached.round(4).tolist(),
        "worst crash": one.least,
        "everyone after": one.whole,
    }


def _traffic_table(traffics: list[PeerTraffic]) -> Table:
    header = ("system", "mean RDP", "median", "of totals", "first document", "mean stress", "greatest", "sends")
    table = Table(*header, "missed", box=None, pad_edge=False)
    for one in traffics:
        figures = _figures(one)
        later, first = figures["penalty"], figures["penalty of the first document"]
        assert isinstance(later, dict)
        assert isinstance(first, dict)
        row = [_ratio(value) for value in (later["mean"], later["median"], later["of totals"], first["mean"])]
        row += [f"{one.mean_stress:.3f}", f"{one.greatest_stress:,}", f"{one.sends:,.0f}", f"{one.missed:,}"]
        table.add_row(one.system, *row)
    return table


def _stability_table(found: list[Stability]) -> Table:
    header = (*(f"{second} s" for second in _SHOWN), "worst crash", "everyone after")
    table = Table("system", "crashed", *header, box=None, pad_edge=False)
    for one in found:
        row = [f"{one.crashed:.0%}", *(f"{one.reached[second]:.1%}" for second in _SHOWN), f"{one.least:.1%}"]
        table.add_row(one.system, *row, "–" if one.whole is None else f"{one.whole} s")
    return table


def _ratio(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"
