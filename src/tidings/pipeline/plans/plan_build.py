"""The shards of a plan, made from the journal's spans: counted once by a sample, built beside each other.

    python -m tidings.pipeline.plans.plan_build FOLDER

builds one shard: FOLDER has its spans and the catalog, and gets the plan. Each is a program of its own: a fork would
take threads and Java's pipes along, and multiprocessing would run the user's program once more in each child."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pyarrow as pa

from tidings.errors import Explained, PipelineError
from tidings.language.normal_form import NO_LIMIT
from tidings.matching.index.box_matcher import BoxMatcher
from tidings.matching.plan.folder import open_plan, save_plan
from tidings.pipeline.plans.plans import shard_of
from tidings.schema import Catalog, json_form
from tidings.store import Span

MOST_SHARDS = 256
BUILDING = ".building-"
_SAMPLE = 20_000  # spans by which the size of all is estimated
_ROOM = 1.25  # times the estimate: shards differ in size, and plans grow
_FEWEST = 20_000  # spans in a shard; below it a process takes longer to start than to build
_COLUMNS = ("subscription", "start", "stop", "filter", "owner")
_SPANS = pa.schema(
    [
        ("subscription", pa.string()),
        ("start", pa.int64()),
        ("stop", pa.int64()),
        ("filter", pa.large_string()),
        ("owner", pa.string()),
    ]
)


class PlanTooLarge(Explained, PipelineError):
    most_bytes: int
    shards: int
    template = "even {shards} shards of the plan take more than {most_bytes!n} bytes each; raise --plan-limit"


class BuildFailed(Explained, PipelineError):
    """A process that built a shard of the plan ended with an error: its last line."""

    said: str
    template = "a shard of the plan could not be built: {said}"


def matcher_of(catalog: Catalog, spans: Iterable[Span]) -> BoxMatcher:
    """A matcher of these spans, which come in the order of their starts."""
    matcher = BoxMatcher(catalog)
    waiting: dict[str, Span] = {}

    def hand_over() -> None:
        some = list(waiting.values())
        texts, starts = [span.filter for span in some], [span.start for span in some]
        matcher.add_texts(list(waiting), texts, starts, NO_LIMIT, [span.owner for span in some])
        for span in some:
            if span.stop is not None:
                matcher.withdraw(span.subscription, span.stop)
        waiting.clear()

    for span in spans:
        if span.subscription in waiting:  # closed and opened again
            hand_over()
        waiting[span.subscription] = span
    hand_over()
    return matcher


def shards_for(catalog: Catalog, spans: list[Span], most_bytes: int) -> int:
    """The number of shards, a power of two, of which each takes at most that many bytes by an estimate from a sample.
    Raises PlanTooLarge."""
    sample = spans[:: max(1, len(spans) // _SAMPLE)]
    few = sample[::16]
    with tempfile.TemporaryDirectory(prefix="tidings-") as folder:
        sizes = []
        for number, some in enumerate((few, sample)):
            save_plan(matcher_of(catalog, some), Path(folder) / str(number))
            sizes.append(bytes_of(Path(folder) / str(number)))
    each = (sizes[1] - sizes[0]) / max(1, len(sample) - len(few))
    fixed, estimate = sizes[0] - each * len(few), _ROOM * each * len(spans)
    shards = 1
    while fixed + estimate / shards > most_bytes:
        shards *= 2
        if shards > MOST_SHARDS:
            raise PlanTooLarge(most_bytes, MOST_SHARDS)
    return shards


def build(catalog: Catalog, spans: list[Span], shards: int, folder: Path) -> list[tuple[BoxMatcher, Path | None]]:
    """The matcher of each shard and where it is saved already; large ones are built in processes beside each other and
    saved in a folder within this one. Raises BuildFailed."""
    parts: list[list[Span]] = [[] for _ in range(shards)]
    for span in spans:
        parts[shard_of(span.subscription, shards)].append(span)
    if shards == 1 or len(spans) < shards * _FEWEST:
        return [(matcher_of(catalog, part), None) for part in parts]
    building = Path(tempfile.mkdtemp(prefix=BUILDING, dir=folder))
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        places = list(pool.map(lambda shard: _built(catalog, parts[shard], building / f"shard-{shard}"), range(shards)))
    return [(open_plan(place), place) for place in places]


def clear_up(folder: Path) -> None:
    """Removes what was built and is published, or left by a planner that was killed."""
    for left in folder.glob(f"{BUILDING}*"):
        shutil.rmtree(left, ignore_errors=True)


def bytes_of(folder: Path) -> int:
    """What a worker maps of a plan."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def _built(catalog: Catalog, spans: list[Span], folder: Path) -> Path:
    folder.mkdir()
    (folder / "catalog.json").write_text(json.dumps(json_form.write(catalog)))
    rows = pa.table({name: [getattr(span, name) for span in spans] for name in _COLUMNS}, _SPANS)
    with pa.OSFile(str(folder / "spans.arrow"), "wb") as sink, pa.ipc.new_file(sink, _SPANS) as writer:
        writer.write_table(rows)
    command = [sys.executable, "-m", "tidings.pipeline.plans.plan_build", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise BuildFailed(done.stderr.strip().rpartition("\n")[2] or f"exit code {done.returncode}")
    (folder / "spans.arrow").unlink()
    return folder / "plan"


def _spans(file: Path) -> Iterator[Span]:
    with pa.memory_map(str(file)) as source:
        for batch in pa.ipc.open_file(source).read_all().to_batches(max_chunksize=10_000):
            yield from (Span(**row) for row in batch.to_pylist())


def main(folder: Path) -> None:
    catalog = json_form.read(json.loads((folder / "catalog.json").read_text()))
    save_plan(matcher_of(catalog, _spans(folder / "spans.arrow")), folder / "plan")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
