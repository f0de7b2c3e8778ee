import gzip
import json
from pathlib import Path

import pytest

from tests.cli.conftest import (
    EVENT,
    MATCHES,
    SCHEMA,
    Tidings,
    left_behind,
    lines,
    process,
    subscriptions,
)
from tidings.matching.algorithms import DEFAULT


def test_results_on_standard_output_and_all_else_on_standard_error() -> None:
    done = process("match", "subscriptions.jsonl", "events.jsonl", *SCHEMA)
    assert done.returncode == 0
    assert lines(done.stdout) == MATCHES
    assert "line 4: event 'e4' refused: domain: 'price': 'cheap'" in done.stderr
    assert "mandatory: 'year' is mandatory for 'car'" in done.stderr
    assert "6 matches, 3 events, 6 subscriptions, 1 event refused" in done.stderr


@pytest.mark.parametrize("algorithm", sorted({DEFAULT, "naive"}))  # all of them: tests/matching
def test_an_algorithm_by_name(tidings: Tidings, algorithm: str) -> None:
    done = tidings("match", "subscriptions.jsonl", "events.jsonl", *SCHEMA, "--algorithm", algorithm)
    assert lines(done.stdout) == MATCHES


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
    ("brand = 'mimi'", "column 9: 'mimi' is not a value of 'brand'"),
    ("price < '5'", "column 9: '5' is not a value of 'price'; numbers are written without quotes"),
    ("price < NaN", "column 9: 'NaN' is "),
    ("title = 'oops", "column 9: this text has no closing '"),
    ("(" * 10_000 + "price < 5" + ")" * 10_000, "may be nested at most 100 deep"),
    ("not " * 10_000 + "price < 5", "may be nested at most 100 deep"),
    (" and ".join(f"(price < {i} or year > {i})" for i in range(20)), "1,048,576 conjunctions"),
    ("price < 5 or " * 800_000 + "price < 5", "characters; at most 262,144 are allowed"),
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
        "line 3: not JSON at column 23",
        "line 4: expected an object",
        "line 5: 'filter' is missing",
        "line 6: no member 'filtre'; did you mean 'filter'?",
        "line 7: id 'a' is taken by line 1",
        "line 8: byte 1 of the line is not UTF-8",
        "line 9: 'id' must be text, got 3",
        "line 10: the JSON is nested too deeply",
    ):
        assert line in done.stderr
    assert left_behind(folder) == []


def test_no_subscriptions_no_matches(tidings: Tidings) -> None:
    done = tidings("match", subscriptions(), "events.jsonl", *SCHEMA)
    assert (done.exit_code, done.stdout) == (0, "")
    assert "0 matches, 3 events, 0 subscriptions" in done.stderr


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
def test_a_file_that_cannot_be_read(tidings: Tidings, folder: Path, name: str, content: bytes, message: str) -> None:
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
    assert "line 2: refused: form: the line is not valid UTF-8" in done.stderr
    assert "line 3: event '2' refused: domain: 'price': 'cheap'" in done.stderr
    assert "line 4: refused: form: 5 cells under 6 columns" in done.stderr


def test_the_form_may_be_said(tidings: Tidings) -> None:
    Path("events.jsonl").rename("events.txt")
    done = tidings("match", "subscriptions.jsonl", "events.txt", *SCHEMA, "--form", "jsonl")
    assert lines(done.stdout) == MATCHES


USAGE = [
    ((), "Missing argument 'SUBS'"),
    (("subscriptions.jsonl", "events.jsonl"), "Missing option '--schema'"),
    (("none.jsonl", "events.jsonl", *SCHEMA), "file 'none.jsonl' does not exist"),
    (("subscriptions.jsonl", "none.jsonl", *SCHEMA), "path 'none.jsonl' does not exist"),
    (("subscriptions.jsonl", "events.jsonl", "--schema", "none.json"), "file 'none.json' does not exist"),
]
OPTIONS = [
    (("--algorithm", "nave"), "no algorithm 'nave'; did you mean 'naive'?"),
    (("--form", "yaml"), "'yaml' is not one of 'jsonl', 'csv', 'parquet', 'xml'"),
    (("--output", "none/out"), "'--output': no directory none"),
    (("--rejects", "none/out"), "'--rejects': no directory none"),
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


def test_errors_of_expressions_are_counted(tidings: Tidings, folder: Path) -> None:
    line = {"id": "s1", "dialect": "cesql", "filter": "INT(brand) > 3"}
    (folder / "own.jsonl").write_text(json.dumps(line))
    done = tidings("match", "own.jsonl", "events.jsonl", *SCHEMA, "--algorithm", "naive")
    assert "warning: INT(brand) > 3: ended in an error on" in done.stderr.replace("\n", " ")


def test_similarity_on_a_file_weighs_words_by_the_whole_file(tidings: Tidings, folder: Path) -> None:
    schema = {
        "domains": [{"name": "t", "kind": "text"}],
        "attributes": [{"name": "body", "domain": "t"}],
        "event_types": [{"name": "story", "attributes": [{"name": "body"}]}],
    }
    (folder / "own.json").write_text(json.dumps(schema))
    texts = ["the bank", "the river", "the road", "the sea"]
    events = [{"id": str(n), "event_type": "story", "attributes": {"body": text}} for n, text in enumerate(texts)]
    (folder / "texts.jsonl").write_text("\n".join(map(json.dumps, events)))
    found = {}
    for least in (0.4, 0.6):
        (folder / "own.jsonl").write_text(json.dumps({"id": "s", "filter": f"body ~ 'the bank' at least {least}"}))
        done = tidings("match", "own.jsonl", "texts.jsonl", "--schema", "own.json", "--algorithm", "naive")
        found[least] = [line["event"] for line in lines(done.stdout)]
    assert found == {0.4: ["0"], 0.6: ["0"]}  # without statistics every text would be similar by 0.5
    pattern = "[body ~ 'the bank' at least 0.4] before [body ~ 'the sea' at least 0.4] within 1 h"
    (folder / "own.jsonl").write_text(json.dumps({"id": "s", "composite": pattern}))
    timed = [one | {"time": f"2026-05-01T10:00:0{one['id']}Z"} for one in events]
    (folder / "texts.jsonl").write_text("\n".join(map(json.dumps, timed)))
    done = tidings("match", "own.jsonl", "texts.jsonl", "--schema", "own.json")
    assert [line["events"] for line in lines(done.stdout)] == [["0", "3"]]
