import json
from pathlib import Path

import pytest

from tests.cli.conftest import Tidings, left_behind, process


def small(name: str, *options: str) -> tuple[str, ...]:
    return ("workload", name, "--subscriptions", "50", "--events", "20", *options)


@pytest.mark.parametrize("form", ["jsonl", "csv", "parquet"])
@pytest.mark.parametrize("name", ["le-subscribe", "thesis"])
def test_the_files_can_be_matched(tidings: Tidings, name: str, form: str) -> None:
    done = tidings(*small(name, "--output", "a/b", "--form", form))
    assert (done.exit_code, done.stdout) == (0, "")
    command = f"tidings match a/b/subscriptions.jsonl a/b/events.{form} --schema a/b/schema.json"
    assert command in done.stderr
    matched = tidings(*command.split()[1:], "--json", "--strict")
    assert matched.exit_code == 0
    summary = json.loads(matched.stderr.splitlines()[-1])
    assert (summary["events"], summary["subscriptions"], summary["refused"]) == (20, 50, 0)


def test_the_same_seed_gives_the_same_files(tidings: Tidings) -> None:
    for folder, seed in (("a", "7"), ("b", "7"), ("c", "8")):
        tidings(*small("le-subscribe", "--output", folder, "--seed", seed))
    contents = [Path(folder, "events.jsonl").read_bytes() for folder in "abc"]
    assert contents[0] == contents[1] != contents[2]


def test_equality_is_a_share(tidings: Tidings) -> None:
    tidings(*small("le-subscribe", "--output", "only", "--equality", "1"))
    text = Path("only", "subscriptions.jsonl").read_text()
    assert "=" in text
    assert "<" not in text


USAGE = [
    (("nope", "--output", "w"), "'nope' is not one of 'le-subscribe', 'thesis'"),
    (("thesis",), "Missing option '--output'"),
    (("thesis", "--output", "schema.json"), "'schema.json' is a file"),
    (("thesis", "--output", "w", "--events", "0"), "'--events'"),
    (("thesis", "--output", "w", "--events", "many"), "'--events'"),
    (("thesis", "--output", "w", "--equality", "0.5"), "'--equality': thesis does not have this option"),
    (("le-subscribe", "--output", "w", "--equality", "2"), "'--equality'"),
    (("thesis", "--output", "w", "--form", "xml"), "'xml' is not one of 'jsonl', 'csv', 'parquet'"),
]


@pytest.mark.parametrize(("arguments", "message"), USAGE, ids=[" ".join(one) for one, _ in USAGE])
def test_usage(tidings: Tidings, folder: Path, arguments: tuple[str, ...], message: str) -> None:
    done = tidings("workload", *arguments)
    assert (done.exit_code, done.stdout) == (2, "")
    assert message in done.stderr
    assert left_behind(folder) == []


def test_a_place_that_cannot_be_a_folder(tidings: Tidings) -> None:
    done = tidings(*small("thesis", "--output", "schema.json/below"))
    assert done.exit_code == 1
    assert "Not a directory" in done.stderr


def test_the_command_as_a_process() -> None:
    done = process(*small("thesis", "--output", "w"))
    assert (done.returncode, done.stdout) == (0, "")
    assert sorted(path.name for path in Path("w").iterdir()) == [
        "events.jsonl",
        "schema.json",
        "subscriptions.jsonl",
    ]
