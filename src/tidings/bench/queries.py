"""How long a query over stored events takes: every row read and matched, or the journal's copy by column; over the same
118,000 events in one run. `python -m tidings.bench.queries`

Whole commands are measured, by the processor time of their processes, and then the same in a process that runs
already, as a server's do. `--against SRC` runs `tidings query` of another checkout for comparison."""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from time import process_time
from typing import Any

from tidings.language import Filter
from tidings.store import Store

EVENTS, ROUNDS = 118_000, 3
FILTERS = (
    "price < 600",
    "brand = b7 and year > 2015 and price < 9000",
    "category under c3 and not (damaged = 'yes') and km < 50000",
    "price < 0.5 * reserve and fuel = diesel",
    "colours contains 'red' and colours contains 'blue'",
    "title contains 'leather'",
)
_NUMBERS = ("price", "reserve", "year", "km", "power", "doors", "seats", "owners", "postcode", "views")
_STRINGS = ("model", "seller", "town", "damaged", "colours")
_OPTIONAL = ("reserve", "fuel", "damaged", "colours")


def schema() -> dict[str, Any]:
    tree: dict[str, Any] = {f"c{i}": {f"c{i}{j}": {} for j in range(10)} for i in range(6)}
    domains: list[dict[str, Any]] = [
        {"name": "number", "kind": "numeric"},
        {"name": "string", "kind": "string"},
        {"name": "text", "kind": "text"},
        {"name": "instant", "kind": "time"},
        {"name": "brand", "kind": "enumerated", "values": [f"b{n}" for n in range(40)]},
        {"name": "fuel", "kind": "enumerated", "values": ["petrol", "diesel", "electric"]},
        {"name": "category", "kind": "hierarchical", "tree": tree},
    ]
    of_domain = {
        "number": _NUMBERS, "string": _STRINGS, "text": ("title",), "instant": ("seen", "ends"),
        "brand": ("brand",), "fuel": ("fuel",), "category": ("category",),
    }  # fmt: skip
    attributes = [{"name": name, "domain": domain} for domain, names in of_domain.items() for name in names]
    uses = [
        {"name": one["name"], "mandatory": one["name"] not in _OPTIONAL, "unique": one["name"] != "colours"}
        for one in attributes
    ]
    return {"domains": domains, "attributes": attributes, "event_types": [{"name": "car", "attributes": uses}]}


def events(count: int) -> Iterator[dict[str, Any]]:
    chance = random.Random(17)
    words = [f"word{n}" for n in range(500)] + ["leather", "navigation"]
    for number in range(count):
        top = chance.randrange(6)
        bound: dict[str, Any] = {name: chance.randrange(1, 1000) for name in _NUMBERS}
        bound |= {"price": chance.randrange(500, 40_000), "reserve": chance.randrange(500, 40_000)}
        bound |= {"year": chance.randrange(1980, 2026), "km": chance.randrange(300_000)}
        bound |= {"model": f"m{chance.randrange(250)}", "seller": f"seller {chance.randrange(5000)}"}
        bound |= {"town": f"town {chance.randrange(900)}", "damaged": chance.choice(("yes", "no"))}
        bound |= {"colours": chance.sample(("red", "blue", "green", "black"), chance.randrange(1, 3))}
        bound |= {"title": " ".join(chance.choices(words, k=10)), "brand": f"b{chance.randrange(40)}"}
        bound |= {"fuel": chance.choice(("petrol", "diesel", "electric"))}
        bound |= {"category": f"c{top}{chance.randrange(10)}"}  # by its name, as older checkouts have it
        bound |= {name: f"2026-05-{chance.randrange(1, 29):02}T10:00:00Z" for name in ("seen", "ends")}
        for name in _OPTIONAL:
            if chance.random() < 0.3:
                del bound[name]
        yield {"id": f"e{number}", "source": "bench", "event_type": ["car"], "attributes": bound}


def by_row(store: Store, filter: Filter) -> int:
    """The slow twin: every row of the journal is read, decoded and matched by the kernels."""
    from tidings.pipeline.batch.history import chosen, single

    matcher = single(filter, store)
    return sum(len(chosen(matcher, rows)) for rows in store.event_rows(0, store.tail()))


def by_column(store: Store, filter: Filter) -> int:
    from tidings.pipeline.batch.query import matching

    return sum(len(found) for found in matching(store, filter, 0, store.tail()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--events", type=int, default=EVENTS)
    parser.add_argument("--against", metavar="SRC", default="", help="the folder src of another checkout")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="of each query; the least time counts")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="tidings-") as folder:
        files = Path(folder)
        (files / "schema.json").write_text(json.dumps(schema()))
        with (files / "events.jsonl").open("w") as lines:
            lines.writelines(json.dumps(event) + "\n" for event in events(asked.events))
        _load(files / "new", "")
        _commands(files, asked.against, asked.rounds)
        _in_process(files / "new" / "tidings.db", asked.rounds)


def _commands(files: Path, against: str, rounds: int) -> None:
    if against:
        _load(files / "old", against)
    before = ["query", "--count", "--engine", "local", "--data", str(files / "old")]
    twin = [sys.executable, "-c", _TWIN, str(files / "new" / "tidings.db")]
    first_of_all, _ = _run([*_TIDINGS, "query", FILTERS[0], "--count", "--data", str(files / "new")], "")  # copies
    print(f"whole command{' against ' + against if against else ''}, seconds of processor time")
    for text in FILTERS:
        first = [*_TIDINGS, *before, text] if against else [*twin, text]
        try:
            slow, count = _least(first, against, rounds)
        except SystemExit as problem:  # of another checkout, which may not know all of the language
            print(f"{text:62} {problem}")
            continue
        quick, again = _least([*_TIDINGS, "query", text, "--count", "--data", str(files / "new")], "", rounds)
        assert count == again, f"{text}: {count} and {again} events"
        if text == FILTERS[0]:
            _print(f"{text}  (the first query, which copies)", slow, first_of_all, int(count))
        _print(text, slow, quick, int(count))


def _in_process(path: Path, rounds: int) -> None:
    print("in a process that runs already, with payloads, seconds of processor time")
    with Store.open(path) as store:
        for text in FILTERS:
            filter = Filter.parse(text, store.catalog())
            (slow, count), (quick, again) = (_timed(one, store, filter, rounds) for one in (by_row, by_column))
            assert count == again, text
            _print(text, slow, quick, count)


def _timed(query: Callable[[Store, Filter], int], store: Store, filter: Filter, rounds: int) -> tuple[float, int]:
    query(store, filter)
    times = []
    for _ in range(rounds):
        began = process_time()
        count = query(store, filter)
        times.append(process_time() - began)
    return min(times), count


def _least(command: list[str], source: str, rounds: int) -> tuple[float, str]:
    runs = [_run(command, source) for _ in range(rounds)]
    return min(seconds for seconds, _ in runs), runs[0][1].strip()


def _load(folder: Path, source: str) -> None:
    given = ["--schema", str(folder.parent / "schema.json"), "--events", str(folder.parent / "events.jsonl")]
    _run([*_TIDINGS, "journal", "load", "--data", str(folder), *given], source)


def _run(command: list[str], source: str) -> tuple[float, str]:
    environment = os.environ | ({"PYTHONPATH": source} if source else {})
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment, text=True)
    assert child.stdout is not None
    said = child.stdout.read()
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {child.returncode}")
    return used.ru_utime + used.ru_stime, said


def _print(text: str, slow: float, quick: float, count: int) -> None:
    print(f"{text:62} {slow:6.2f} {quick:6.2f}  {slow / quick:5.1f} times  {count:,} events", flush=True)


# As the installed program does, from whatever source the environment names.
_TIDINGS = [sys.executable, "-c", "import sys; sys.argv[0] = 'tidings'; from tidings.cli.main import app; app()"]
_TWIN = """
import sys
from tidings.bench.queries import by_row
from tidings.language import Filter
from tidings.store import Store
with Store.open(sys.argv[1]) as store:
    print(by_row(store, Filter.parse(sys.argv[2], store.catalog())))
"""


if __name__ == "__main__":
    main()
