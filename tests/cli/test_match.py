import gzip
import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.cli.conftest import (
    EVENT,
    SCHEMA,
    Tidings,
    exit_code_when_nobody_reads,
    left_behind,
    process,
    subscriptions,
)
from tidings.matching.algorithms import ALGORITHMS

EXPECTED = [
    {"event": "e1", "subscription": "bargain"},
    {"event": "e1", "subscription": "cheap-mini"},
    {"event": "e1", "subscription": "not-blue"},
    {"event": "e1", "subscription": "two-tone"},
    {"event": "e2", "subscription": "ending-soon"},
    {"event": "e2", "subscription": "furniture"},
]


def lines(text: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in text.splitlines()]


def test_results_on_standard_output_and_all_else_on_standard_error() -> None:
    done = process("match", "subscriptions.jsonl", "events.jsonl", *SCHEMA)
    assert done.returncode == 0
    assert lines(done.stdout) == EXPECTED
    assert "line 4: event 'e4' refused: domain: 'price': 'cheap'" in done.stderr
    assert "mandatory: 'year' is mandatory for 'auction' and 'car'" in done.stderr
    assert "6 matches, 3 events, 6 subscriptions, 1 event refused" in done.stderr


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_every_algorithm_gives_the_same_lines(tidings: Tidings, algorithm: str) -> None:
    done = tidings("match", "subscriptions.jsonl", "events.jsonl", *SCHEMA, "--algorithm", algorithm)
    assert lines(done.stdout) == EXPECTED


def test_summary_as_json(tidings: Tidings) -> None:
    done = tidings("match", "subscriptions.jsonl", "events.jsonl", *SCHEMA, "--json")
    summary = json.loads(done.stderr.splitlines()[-1])
    assert (summary["matches"], summary["events"], summary["refused"]) == (6, 3, 1)


def test_duplicates_are_skipped_and_told(tidings: Tidings) -> None:
    event = json.dumps(EVENT) + "\n"
    Path("twice.jsonl").write_text(event * 2)
    done = tidings("match", subscriptions("price = 10"), "twice.jsonl", *SCHEMA)
    assert lines(done.stdout) == [{"event": "x", "subscription": "s1"}]
    assert "1 match, 1 event, 1 subscription, 1 duplicate skipped" in done.stderr


def test_subscriptions_of_an_event_stand_in_the_order_of_their_ids(tidings: Tidings) -> None:
    ids = ["b", "B", "a10", "a9", "ä"]
    Path("own.jsonl").write_text("".join(json.dumps({"id": id, "filter": "price > 0"}) + "\n" for id in ids))
    Path("one.jsonl").write_text(json.dumps(EVENT))
    done = tidings("match", "own.jsonl", "one.jsonl", *SCHEMA)
    assert [line["subscription"] for line in lines(done.stdout)] == sorted(ids)


def test_a_warning_names_its_subscription(tidings: Tidings) -> None:
    done = tidings("match", subscriptions("price < 1 and price > 2"), "events.jsonl", *SCHEMA)
    assert done.exit_code == 0
    assert "warning: subscription 's1': this filter can never match" in done.stderr


WRONG_FILTERS = [
    ("prise < 5", "column 1: no attribute 'prise'; did you mean 'price'?"),
    (
        "brand < mini",
        "column 7: domain 'brand' of 'brand' does not allow '<'; it allows = != contains exists",
    ),
    ("brand = 'mimi'", "column 9: 'mimi' is no value of 'brand'"),
    ("price < '5'", "column 9: '5' is no value of 'price': numbers are written without quotes"),
    ("price < NaN", "column 9: 'NaN' is "),
    ("title = 'oops", "column 9: the text that begins here has no closing '"),
    ("(" * 10_000 + "price < 5" + ")" * 10_000, "may be nested 100 deep at most"),
    ("not " * 10_000 + "price < 5", "may be nested 100 deep at most"),
    (" and ".join(f"(price < {i} or year > {i})" for i in range(20)), "1,048,576 conjunctions"),
    ("price < 5 or " * 800_000 + "price < 5", "characters; at most 262,144 are read"),
]


@pytest.mark.parametrize(("text", "message"), WRONG_FILTERS, ids=[text[:20] for text, _ in WRONG_FILTERS])
def test_a_wrong_filter_ends_it(tidings: Tidings, text: str, message: str) -> None:
    done = tidings("match", subscriptions("price > 0", text), "events.jsonl", *SCHEMA)
    assert done.exit_code == 1
    assert done.stdout == ""
    assert "error: 1 subscription is wrong, so nothing was matched:\nline 2: " in done.stderr
    assert message in done.stderr


def test_all_wrong_lines_are_listed(tidings: Tidings, folder: Path) -> None:
    Path("own.jsonl").write_bytes(
        b'{"id": "a", "filter": "price < 5"}\n\n{"id": "b", "filter": price}\n[1]\n{"id": "c"}\n'
        b'{"id": "d", "filtre": "x"}\n{"id": "a", "filter": "price > 5"}\n\xff\xfe\n'
        b'{"id": 3, "filter": "price > 5"}\n{"id": "e", "filter": ' + b"[" * 100_000 + b"\n"
    )
    done = tidings("match", "own.jsonl", "events.jsonl", *SCHEMA, "--output", "out", "--rejects", "rejects")
    assert done.exit_code == 1
    assert done.stdout == ""
    for line in (
        "8 subscriptions are wrong",
        "line 3: no JSON at column 23",
        "line 4: expected an object",
        "line 5: 'filter' is missing",
        "line 6: no member 'filtre'; did you mean 'filter'?",
        "line 7: id 'a' is taken by line 1",
        "line 8: byte 1 of the line is no UTF-8",
        "line 9: 'id' must be text, got 3",
        "line 10: no subscription: the JSON is nested too deeply",
    ):
        assert line in done.stderr
    assert left_behind(folder) == []


def test_no_subscriptions_no_matches(tidings: Tidings) -> None:
    done = tidings("match", subscriptions(), "events.jsonl", *SCHEMA)
    assert (done.exit_code, done.stdout) == (0, "")
    assert "0 matches, 3 events, 0 subscriptions" in done.stderr


BAD_EVENTS = b'not json\n{"id": "z"}\n[1]\n\xff\xfe\n{"id": "n", "attributes": {"price": NaN}}\n"x"\n'


def test_a_file_of_bad_lines_only(tidings: Tidings) -> None:
    Path("bad.jsonl").write_bytes(BAD_EVENTS)
    done = tidings("match", "subscriptions.jsonl", "bad.jsonl", *SCHEMA)
    assert (done.exit_code, done.stdout) == (0, "")
    assert "line 1: refused: form: the line is no JSON" in done.stderr
    assert "line 2: event 'z' refused: mandatory: the event has no event_type" in done.stderr
    assert "more events were refused; --rejects FILE lists them all" in done.stderr
    assert "0 events, 6 subscriptions, 6 events refused" in done.stderr


def test_strict_exits_with_1_and_rejects_are_written(tidings: Tidings, folder: Path) -> None:
    Path("bad.jsonl").write_bytes(BAD_EVENTS)
    options = ("--strict", "--rejects", "rejects.jsonl", "--output", "out.jsonl")
    done = tidings("match", "subscriptions.jsonl", "bad.jsonl", *SCHEMA, *options)
    assert (done.exit_code, done.stdout) == (1, "")
    rejects = lines(Path("rejects.jsonl").read_text())
    assert [one["line"] for one in rejects] == [1, 2, 3, 4, 5, 6]
    assert rejects[0]["errors"][0]["rule"] == "form"  # type: ignore[index]
    assert Path("out.jsonl").read_text() == ""
    assert "refused:" not in done.stderr
    assert left_behind(folder) == ["bad.jsonl", "out.jsonl", "rejects.jsonl"]


def test_strict_is_content_when_all_is_well(tidings: Tidings) -> None:
    Path("one.jsonl").write_text(json.dumps(EVENT))
    assert tidings("match", "subscriptions.jsonl", "one.jsonl", *SCHEMA, "--strict").exit_code == 0


WRONG_FILES = [
    ("empty.jsonl", b"", "empty.jsonl: the file is empty"),
    ("blank.jsonl", b"\n\n", "blank.jsonl: the file is empty"),
    ("empty.parquet", b"", "empty.parquet: the file is empty"),
    ("junk.parquet", b"junk", "this looks like no Parquet file"),
    ("utf16.csv", b"\xff\xfei\0d\0", "this looks like UTF-16 text: save it as UTF-8"),
    ("header.csv", b"id,event_typ,prise\n1,car,3\n", "no attribute 'prise'; did you mean 'price'?"),
    ("semicolons.csv", b"id;event_type\n", "separated by semicolons"),
    ("half.jsonl.gz", gzip.compress(b"{}" * 1000)[:20], "damaged after line 0"),
    ("events.txt", b"{}", "the name ends in none of .jsonl"),
]


@pytest.mark.parametrize(("name", "content", "message"), WRONG_FILES, ids=[one[0] for one in WRONG_FILES])
def test_a_file_that_cannot_be_read(
    tidings: Tidings, folder: Path, name: str, content: bytes, message: str
) -> None:
    Path(name).write_bytes(content)
    done = tidings("match", "subscriptions.jsonl", name, *SCHEMA, "--output", "out", "--rejects", "rejects")
    assert (done.exit_code, done.stdout) == (1, "")
    assert f"error: {name}: " in done.stderr
    assert message in done.stderr
    assert left_behind(folder) == [name]


def test_rows_of_csv_are_refused_by_line(tidings: Tidings) -> None:
    Path("e.csv").write_bytes(
        b"id,event_type,title,price,category,ends\n1,auction,t\xff,5,car,2026-01-01\n"
        b"2,auction,t,cheap,car,2026-01-01\n3,auction,t,5,car\n4,auction,t,200,car,2026-01-01\n"
    )
    done = tidings("match", "subscriptions.jsonl", "e.csv", *SCHEMA)
    assert lines(done.stdout) == [{"event": "4", "subscription": "ending-soon"}]
    assert "line 2: refused: form: the line is no UTF-8 text" in done.stderr
    assert "line 3: event '2' refused: domain: 'price': 'cheap'" in done.stderr
    assert "line 4: refused: form: 5 cells under 6 columns" in done.stderr


def test_the_form_may_be_said(tidings: Tidings) -> None:
    Path("events.jsonl").rename("events.txt")
    done = tidings("match", "subscriptions.jsonl", "events.txt", *SCHEMA, "--form", "jsonl")
    assert lines(done.stdout) == EXPECTED


USAGE = [
    ((), "Missing argument 'SUBS'"),
    (("subscriptions.jsonl", "events.jsonl"), "Missing option '--schema'"),
    (("none.jsonl", "events.jsonl", *SCHEMA), "file 'none.jsonl' does not exist"),
    (("subscriptions.jsonl", "none.jsonl", *SCHEMA), "file 'none.jsonl' does not exist"),
    (("subscriptions.jsonl", ".", *SCHEMA), "file '.' is a directory"),
    (("subscriptions.jsonl", "events.jsonl", "--schema", "none.json"), "file 'none.json' does not exist"),
]
OPTIONS = [
    (("--algorithm", "nave"), "no algorithm 'nave'; did you mean 'naive'?"),
    (("--form", "xml"), "'xml' is not one of 'jsonl', 'csv', 'parquet'"),
    (("--output", "none/out"), "'--output': there is no directory none"),
    (("--rejects", "none/out"), "'--rejects': there is no directory none"),
    (("--output", "."), "'--output': . is a directory"),
    (("--output", "same", "--rejects", "same"), "'--rejects': same is used already"),
    (("--output", "events.jsonl"), "'--output': events.jsonl is used already"),
    (("--rejects", "schema.json"), "'--rejects': schema.json is used already"),
    (("--frobnicate",), "--frobnicate"),
]
USAGE += [(("subscriptions.jsonl", "events.jsonl", *SCHEMA, *more), text) for more, text in OPTIONS]


@pytest.mark.parametrize(("arguments", "message"), USAGE, ids=[message for _, message in USAGE])
def test_usage(tidings: Tidings, folder: Path, arguments: tuple[str, ...], message: str) -> None:
    done = tidings("match", *arguments)
    assert (done.exit_code, done.stdout) == (2, "")
    assert message in done.stderr
    assert left_behind(folder) == []


def test_a_closed_pipe_ends_it_in_peace() -> None:
    event = json.dumps(EVENT)
    Path("many.jsonl").write_text("".join(event.replace('"x"', f'"{i}"') + "\n" for i in range(3000)))
    own = subscriptions(*["price > 0"] * 20)
    assert exit_code_when_nobody_reads("match", own, "many.jsonl", *SCHEMA) == (0, "")


def test_a_pipe_is_written_through_and_stays_one() -> None:
    """A file renamed over it would take its place; over /dev/null it would do so for everybody."""
    os.mkfifo("pipe")
    with subprocess.Popen(["cat", "pipe"], stdout=subprocess.PIPE, text=True) as reader:
        process("match", "subscriptions.jsonl", "events.jsonl", *SCHEMA, "--output", "pipe")
        assert Path("pipe").is_fifo()
        assert lines(reader.communicate()[0]) == EXPECTED


def test_an_output_that_is_a_link_stays_a_link_and_keeps_its_permissions(tidings: Tidings) -> None:
    Path("real").write_text("old")
    Path("real").chmod(0o640)
    Path("link").symlink_to("real")
    assert tidings("match", "subscriptions.jsonl", "events.jsonl", *SCHEMA, "--output", "link").exit_code == 0
    assert Path("link").is_symlink()
    assert lines(Path("real").read_text()) == EXPECTED
    assert Path("real").stat().st_mode & 0o777 == 0o640


def test_a_full_disk_is_told() -> None:
    with open("/dev/full", "wb") as full:
        done = process("match", "subscriptions.jsonl", "events.jsonl", *SCHEMA, stdout=full)
    assert done.returncode == 1
    assert "No space left on device" in done.stderr
    assert "Traceback" not in done.stderr


def test_what_fails_in_the_middle_leaves_no_file(tidings: Tidings, folder: Path) -> None:
    event = json.dumps(EVENT)
    many = "".join(event.replace('"x"', f'"{i}"') + "\n" for i in range(30_000)).encode()
    Path("many.jsonl.gz").write_bytes(gzip.compress(many, 0)[:-100])
    Path("out").write_text("old")
    options = ("--output", "out", "--rejects", "rejects")
    done = tidings("match", subscriptions("price = 0"), "many.jsonl.gz", *SCHEMA, *options)
    assert done.exit_code == 1
    assert "many.jsonl.gz: damaged after line" in done.stderr
    assert left_behind(folder) == ["many.jsonl.gz", "out"]
    assert Path("out").read_text() == "old"
