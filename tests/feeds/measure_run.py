"""How fast a whole `tidings feed run` is: rows of a file become events in the journal of a service that runs beside it.

Run: python -m tests.feeds.measure_run [rows] [--against SRC]

Two ways of one pass, of the same cars as CSV, as JSON Lines, and the first 2,000 as a folder of as many files: "handed
over" is the feed alone, from the file to lines ready to be sent; "stored" is the command against a service without a
pipeline, until the journal has the last row. Both processes are measured by their processor time, which a busy machine
changes less than the clock: two processors need at least as long as the larger of both. `--against` runs the same with
the folder src of another checkout, in turns."""

from __future__ import annotations

import argparse
import http.client
import json
import os
import resource
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.feeds.measure_rows import FIELDS, cars
from tests.service.measure import processor_seconds

ROWS = 200_000
FILES = 2_000
_TIDINGS = [sys.executable, "-c", "import sys; sys.argv[0] = 'tidings'; from tidings.cli.main import app; app()"]
_HAND_OVER = """
import sys, time
from pathlib import Path
from tests.feeds.measure_run import Nowhere
from tidings.feeds import Feed, read_mapping
if not sys.argv[3]:
    from tidings.garbage_collector import collect_less
    collect_less()
client = Nowhere(Path(sys.argv[2]))
feed = Feed(read_mapping(Path(sys.argv[1])), client)
start = time.process_time()
feed.once()
print(time.process_time() - start, client.lines)
"""


class Nowhere:
    """A client that has the server's schema and makes lines of what it gets, which nobody takes."""

    def __init__(self, schema: Path) -> None:
        from tidings.schema import Catalog

        self.url, self.lines, self.size = "nowhere", 0, 0
        self._catalog = Catalog.from_dict(json.loads(schema.read_text()))

    def schema(self) -> object:
        return self._catalog

    def publish_many(self, events: list[dict[str, object]]) -> object:
        from tidings.client import PublishedMany
        from tidings.client.lines import lines_of

        lines = list(lines_of(events))
        self.lines += len(lines)
        self.size += sum(map(len, lines))
        return PublishedMany(accepted=len(lines))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("rows", type=int, nargs="?", default=ROWS)
    parser.add_argument("--against", metavar="SRC", default="", help="the folder src of another checkout")
    parser.add_argument("--rounds", type=int, default=2)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="tidings-") as name:
        folder = Path(name)
        made = cars(asked.rows)
        names = list(made[0])
        with (folder / "cars.csv").open("w") as file:
            file.write(",".join(names) + "\n")
            file.writelines(",".join(f'"{one[name]}"' for name in names) + "\n" for one in made)
        with (folder / "cars.jsonl").open("w") as file:
            file.writelines(json.dumps(one) + "\n" for one in made)
        (folder / "cars.folder").mkdir()
        few = made[:FILES]
        for number, one in enumerate(few):
            (folder / "cars.folder" / f"{number}.json").write_text(json.dumps(one))
        for form, format, rows in (
            ("csv", "csv", len(made)),
            ("jsonl", "json", len(made)),
            ("folder", "json", len(few)),
        ):
            for round in range(asked.rounds):
                for source in (asked.against, "") if asked.against else ("",):
                    measure(folder, form, format, rows, source, round)


def measure(folder: Path, form: str, format: str, rows: int, source: str, round: int) -> None:
    here = folder / f"{form}-{round}-{'old' if source else 'new'}"
    here.mkdir()
    mapping = here / "cars.toml"
    mapping.write_text(mapping_text(folder / f"cars.{form}", format))
    with served(here, source) as (process, url):
        run(["feed", "infer", str(mapping), "--server", url, "--apply"], source)
        schema = run(["schema", "show", "--server", url, "--json"], source)
        (here / "schema.json").write_text(schema)
        before, began = processor_seconds(process), time.monotonic()
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        said = run(["feed", "run", str(mapping), "--once", "--json", "--server", url], source)
        seconds, gateway = time.monotonic() - began, processor_seconds(process) - before
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        feed = after.ru_utime + after.ru_stime - used.ru_utime - used.ru_stime
    published = json.loads(said.splitlines()[-1])["published"]
    assert published == rows, said
    done = subprocess.run(
        [sys.executable, "-c", _HAND_OVER, str(mapping), str(here / "schema.json"), source],
        env=environment(source), stdout=subprocess.PIPE, text=True, check=True,
    )  # fmt: skip
    alone, lines = done.stdout.split()
    assert int(lines) == rows
    name = f"{form}, {'against' if source else 'this'}"
    print(
        f"{name:16} handed over {rows / float(alone):8,.0f} rows per processor second; stored: feed {rows / feed:8,.0f}"
        f", service {rows / gateway:8,.0f}; {rows / seconds:8,.0f} rows/s by the clock (load {os.getloadavg()[0]:.1f})",
        flush=True,
    )


def mapping_text(file: Path, format: str) -> str:
    kind = "folder" if file.is_dir() else "file"
    lines = [f'{kind} = "{file}"', f'format = "{format}"', 'event_type = "car"', 'id = "id"', "[fields]"]
    for name, field in FIELDS.items():
        said = {"from": field} if isinstance(field, str) else field
        lines.append(f"{name} = {{ " + ", ".join(f'{key} = "{value}"' for key, value in said.items()) + " }")
    return "\n".join(lines) + "\n"


def environment(source: str) -> dict[str, str]:
    root = str(Path(__file__).parents[2])
    return os.environ | {"PYTHONPATH": os.pathsep.join([source, root]) if source else root}


def run(arguments: list[str], source: str) -> str:
    done = subprocess.run([*_TIDINGS, *arguments], env=environment(source), capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"tidings {' '.join(arguments)} ended with {done.returncode}: {done.stderr[-2000:]}")
    return done.stdout


@contextmanager
def served(folder: Path, source: str) -> Iterator[tuple[int, str]]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = ["--no-pipeline", "--no-outbox", "--guests", "--data", str(folder / "data"), "--port", str(port)]
    command = [*_TIDINGS, "serve", *options, "--xml-port", "0"]
    with (folder / "serve.log").open("w") as log:
        server = subprocess.Popen(command, env=environment(source), stdout=log, stderr=log)
    try:
        wait_for(port, server, folder / "serve.log")
        yield server.pid, f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait(30)


def wait_for(port: int, server: subprocess.Popen[bytes], log: Path) -> None:
    until = time.monotonic() + 60
    while time.monotonic() < until and server.poll() is None:
        try:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
            connection.request("GET", "/healthz")
            connection.getresponse().read()
            return
        except OSError:
            time.sleep(0.1)
    raise SystemExit(f"the service did not start: {log.read_text()[-2000:]}")


if __name__ == "__main__":
    main()
