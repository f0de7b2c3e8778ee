"""`tidings match --engine spark` answers as the local engine does, byte for byte."""

import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import EVENT, SCHEMA, Tidings, left_behind, subscriptions
from tidings.events import read_events
from tidings.schema.files import read_catalog
from tidings.workloads.files import write_events

FILTERS = ("price < 300", "price between 100 and 5000", "title contains 'n7'", "category under furniture", "year > 1")


def same(tidings: Tidings, *arguments: str) -> tuple[int, str, str, str]:
    """Both engines with the same arguments: exit code, standard output, standard error, rejects."""
    told = []
    for engine in ("local", "spark"):
        done = tidings("match", *arguments, *SCHEMA, "--engine", engine, "--rejects", f"rejects.{engine}")
        rejects = Path(f"rejects.{engine}")
        text = rejects.read_text() if rejects.exists() else ""
        told.append((done.exit_code, done.stdout, _timeless(done.stderr), text))
    assert told[1] == told[0]
    return told[0]


def _timeless(text: str) -> str:
    text = re.sub(r'"seconds":[0-9.e-]+', '"seconds":0', text)
    return re.sub(r"\d+\.\d s$", "0.0 s", text, flags=re.MULTILINE)


def auction(n: int, **changes: Any) -> str:
    attributes = {**EVENT["attributes"], "title": f"chair n{n % 10}", "price": n % 1000}  # type: ignore[dict-item]
    return json.dumps({**EVENT, "id": f"e{n}", "attributes": attributes, **changes})


def write_many(count: int = 25_000) -> None:
    """More than a few blocks, with duplicates in the same block and in others, and refused ones of every sort."""
    lines = [auction(n) for n in range(count)]
    lines[3] = auction(1)
    lines[count - 2] = auction(7)
    lines[count - 3] = auction(7, source="another")
    lines[count // 2] = auction(8, event_type="lorry")
    lines[count // 2 + 1] = "{"
    lines[100] = ""
    lines[200] = " " * 1_000_005
    lines[count - 1] = auction(-1)
    Path("many.jsonl").write_text("\n".join(lines))


def test_json_lines_with_all_that_can_happen(tidings: Tidings) -> None:
    write_many()
    code, out, errors, rejects = same(tidings, subscriptions(*FILTERS), "many.jsonl")
    assert code == 0
    assert "24,994 events, 5 subscriptions, 3 events refused, 2 duplicates skipped" in errors
    assert [json.loads(line)["line"] for line in rejects.splitlines()] == [201, 12_501, 12_502]
    assert out.count("\n") > 10_000
    assert same(tidings, "own.jsonl", "many.jsonl", "--strict", "--json")[0] == 1


@pytest.mark.parametrize("name", ["many.csv", "many.parquet", "many.jsonl.gz"])
def test_other_forms(tidings: Tidings, name: str) -> None:
    write_many(12_000)
    if name.endswith(".gz"):
        Path(name).write_bytes(gzip.compress(Path("many.jsonl").read_bytes()))
    else:
        catalog, _ = read_catalog("schema.json")
        write_events((reading.batch for reading in read_events("many.jsonl", catalog)), catalog, name)
    code, out, errors, _ = same(tidings, subscriptions(*FILTERS), name)
    assert code == 0
    assert out.count("\n") > 5_000
    assert "11,994 events" in errors


def test_the_examples_without_rejects(tidings: Tidings) -> None:
    told = []
    for engine in ("local", "spark"):
        done = tidings("match", "subscriptions.jsonl", "events.jsonl", *SCHEMA, "--engine", engine, "--output", engine)
        told.append((done.exit_code, done.stdout, _timeless(done.stderr), Path(engine).read_bytes()))
    assert told[0] == told[1]
    assert told[0][3].count(b"\n") == 6
    assert "line 4: event 'e4' refused: domain" in told[0][2]


def test_no_subscriptions(tidings: Tidings) -> None:
    assert same(tidings, subscriptions(), "events.jsonl")[:2] == (0, "")


def test_a_file_that_breaks_off(tidings: Tidings) -> None:
    write_many(30_000)
    packed = gzip.compress(Path("many.jsonl").read_bytes())
    Path("half.jsonl.gz").write_bytes(packed[: len(packed) * 3 // 4])
    code, out, errors, rejects = same(tidings, subscriptions(*FILTERS), "half.jsonl.gz")
    assert code == 1
    assert out  # what stood before the damage
    assert "damaged after line" in errors
    assert rejects == ""


def test_what_ends_it_before_spark_is_asked(tidings: Tidings, folder: Path) -> None:
    done = tidings("match", subscriptions("prise < 5"), "events.jsonl", *SCHEMA, "--engine", "spark", "--output", "out")
    assert (done.exit_code, done.stdout) == (1, "")
    assert "no attribute 'prise'; did you mean 'price'?" in done.stderr
    assert left_behind(folder) == []


USAGE = [
    (("--engine", "flink"), "'flink' is not one of 'local', 'spark'"),
    (("--engine", "spark", "--algorithm", "counting"), "'--algorithm': Spark supports only the algorithm 'default'"),
    (("--engine", "spark", "--shared", "none"), "dir 'none' does not exist"),
]


@pytest.mark.parametrize(("arguments", "message"), USAGE, ids=[message for _, message in USAGE])
def test_usage(tidings: Tidings, arguments: tuple[str, ...], message: str) -> None:
    done = tidings("match", "subscriptions.jsonl", "events.jsonl", *SCHEMA, *arguments)
    assert (done.exit_code, done.stdout) == (2, "")
    assert message in done.stderr


def test_workers_elsewhere_need_a_shared_folder(tidings: Tidings) -> None:
    spark = ("--engine", "spark", "--master", "spark://nowhere:7077")
    done = tidings("match", "subscriptions.jsonl", "events.jsonl", *SCHEMA, *spark)
    assert (done.exit_code, done.stdout) == (1, "")
    assert "the workers of spark://nowhere:7077 may not see the temporary files of this machine" in done.stderr
