import json
from pathlib import Path

import pytest

from tests.cli.conftest import Tidings, exit_code_when_nobody_reads, left_behind, process
from tidings.schema.files import read_catalog

SAAB = '{"change": "append_value", "domain": "brand", "value": "saab"}'


def test_check_says_how_large_it_is(tidings: Tidings) -> None:
    done = tidings("schema", "check", "schema.json")
    assert (done.exit_code, done.stdout) == (0, "")
    assert "schema.json is a valid schema: 2 event types, 9 attributes, 7 domains" in done.stderr


WRONG = {
    "node.json": (
        '{"domains": [{"name": "c", "kind": "hierarchical", "tree": {"a": {"b > c": {}}}}]}',
        ["'b > c' cannot name a node: ' > ' separates the names in a path"],
    ),
    "dangling.json": (
        '{"domains": [{"name": "money", "kind": "numeric"}], "attributes": [{"name": "p", "domain": "mony"}],'
        ' "event_types": [{"name": "t", "attributes": [{"name": "q"}]}]}',
        [
            "attribute 'p': no domain 'mony'; did you mean 'money'?",
            "event type 't': no attribute 'q'; valid: 'p'",
        ],
    ),
    "two.json": (
        '{"domains": [{"name": "n", "kind": "numeric", "values": []}, {"name": "m", "kind": "numerik"}]}',
        ["'values' belongs to enumerated domains", "no kind 'numerik'; did you mean 'numeric'?"],
    ),
    "nan.json": ('{"version": NaN}', ["NaN is not a number"]),
    "broken.json": ('{"domains": [\n  {"name": "a",,\n', ["line 2, column 16: not JSON"]),
    "deep.json": ('{"domains":' + "[" * 100_000, ["the JSON is nested too deeply"]),
    "empty.json": ("", ["not JSON"]),
    "text.schema": ("hello", ["neither JSON nor XML"]),
    "tags.xml": ("<IESCHEMA><A></B></IESCHEMA>", ["line 1, column 18: not XML"]),
    "entity.xml": ('<!DOCTYPE x [<!ENTITY a "b">]><IESCHEMA/>', ["such as entities, are refused"]),
}


@pytest.mark.parametrize("command", ["check", "show"])
@pytest.mark.parametrize("name", WRONG)
def test_everything_wrong_is_told(tidings: Tidings, name: str, command: str) -> None:
    content, messages = WRONG[name]
    Path(name).write_text(content)
    done = tidings("schema", command, name)
    assert (done.exit_code, done.stdout) == (1, "")
    for message in messages:
        assert f"{name}: " in done.stderr
        assert message in done.stderr


def test_no_utf_8(tidings: Tidings) -> None:
    Path("bytes.json").write_bytes(b'{"domains": [{"name": "mon\xffey"}]}')
    done = tidings("schema", "check", "bytes.json")
    assert done.exit_code == 1
    assert "bytes.json: byte 26: not UTF-8 text" in done.stderr


def test_what_was_put_right_is_noted(tidings: Tidings) -> None:
    Path("typo.xml").write_text("<IESCHEMA><A></A><ET><VALUE>car</VALEU></ET></IESCHEMA>")
    done = tidings("schema", "check", "typo.xml")
    assert done.exit_code == 0
    assert "note: typo.xml: line 1: the closing tag </VALEU> was read as </VALUE>" in done.stderr


def test_show() -> None:
    done = process("schema", "show", "schema.json")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("schema version 1: 2 event types, 9 attributes, 7 domains\n")
    assert "            paint      words                 several" in done.stdout
    assert '└── "worn", "good", "mint" (in this order)' in done.stdout
    assert "│   ├── car" in done.stdout


def test_show_for_machines(tidings: Tidings) -> None:
    shown = json.loads(tidings("schema", "show", "schema.json", "--json").stdout)
    assert [event_type["name"] for event_type in shown["event_types"]] == ["auction", "car"]


@pytest.mark.parametrize("options", [(), ("--json",)])
def test_a_closed_pipe_ends_show_in_peace(options: tuple[str, ...]) -> None:
    assert exit_code_when_nobody_reads("schema", "show", "schema.json", *options) == (0, "")


def test_convert_there_and_back(tidings: Tidings) -> None:
    done = tidings("schema", "convert", "schema.json", "schema.xml")
    assert (done.exit_code, done.stdout, done.stderr) == (0, "", "wrote schema.xml\n")
    assert tidings("schema", "convert", "schema.xml", "back.json").exit_code == 0
    assert read_catalog("back.json") == read_catalog("schema.json")


def test_convert_leaves_the_target_alone_when_the_schema_is_wrong(tidings: Tidings) -> None:
    Path("wrong.json").write_text("{")
    Path("target.xml").write_text("old")
    assert tidings("schema", "convert", "wrong.json", "target.xml").exit_code == 1
    assert Path("target.xml").read_text() == "old"


def test_grow_prints_the_grown_schema(tidings: Tidings) -> None:
    done = tidings("schema", "grow", "schema.json", SAAB)
    assert done.stderr == "schema version 1 became 2\n"
    grown = json.loads(done.stdout)
    assert grown["version"] == 2
    assert grown["domains"][3]["values"] == ["opel", "mini", "audi", "volvo", "saab"]


@pytest.mark.parametrize("form", ["one", "list", "lines", "file"])
def test_changes_as_text_or_file(tidings: Tidings, form: str) -> None:
    lada = SAAB.replace("saab", "lada")
    text = {"one": SAAB, "list": f"[{SAAB}, {lada}]", "lines": f"{SAAB}\n{lada}", "file": "changes.jsonl"}[form]
    Path("changes.jsonl").write_text(f"\ufeff{SAAB}\n\n{lada}\n")
    done = tidings("schema", "grow", "schema.json", text, "--output", "grown.json")
    assert (done.exit_code, done.stdout) == (0, "")
    assert f"schema version 1 became {2 if form == 'one' else 3}" in done.stderr


def test_grow_in_place_and_as_xml(tidings: Tidings) -> None:
    assert tidings("schema", "grow", "schema.json", SAAB, "--output", "schema.json").exit_code == 0
    assert read_catalog("schema.json")[0].version == 2
    assert tidings("schema", "convert", "schema.json", "schema.xml").exit_code == 0
    done = tidings("schema", "grow", "schema.xml", SAAB.replace("saab", "lada"))
    assert done.stdout.startswith("<?xml")


REFUSED = [
    ("{", "not JSON"),
    ("[]", "the list has no changes"),
    ("{}", "change 1 refused, nothing was changed: 'change' is missing"),
    ('{"change": "append_valeu"}', "no change 'append_valeu'; did you mean 'append_value'?"),
    (SAAB.replace("brand", "brnd"), "no domain 'brnd'; did you mean 'brand'?"),
    (SAAB.replace("saab", "mini"), "value 'mini' exists already"),
    (
        SAAB.replace("brand", "money"),
        "a value can only be appended to enumerated domains; 'money' is numeric",
    ),
    ('{"change": "create_attribute"}', "expected an object"),
    ("bytes.jsonl", "not UTF-8"),
    (
        f'[{SAAB}, {{"change": "extend_event_type", "event_type": "car", '
        '"attribute": {"name": "price", "mandatory": true}}]',
        "change 2 refused, nothing was changed: event type 'car' can only be extended by optional attributes",
    ),
    (f"{SAAB}\n{{", "change 2: line 1, column 2: not JSON"),
]


@pytest.mark.parametrize(("changes", "message"), REFUSED, ids=[message[:40] for _, message in REFUSED])
def test_refused_changes_change_nothing(tidings: Tidings, folder: Path, changes: str, message: str) -> None:
    Path("bytes.jsonl").write_bytes(b"\xff\xfe")
    done = tidings("schema", "grow", "schema.json", changes, "--output", "grown.json")
    assert (done.exit_code, done.stdout) == (1, "")
    assert message in done.stderr
    assert left_behind(folder) == ["bytes.jsonl"]


USAGE = [
    (("check", "none.json"), "file 'none.json' does not exist"),
    (("show", "."), "file '.' is a directory"),
    (("convert", "schema.json", "schema.txt"), "schema.txt ends in neither .json nor .xml"),
    (("convert", "schema.json", "none/schema.xml"), "no directory none"),
    (("grow", "schema.json", "none.json"), "'none.json' is neither a file nor JSON"),
    (("grow", "schema.json", SAAB, "--output", "none/x.json"), "no directory none"),
    (("grow", "schema.json", SAAB, "--output", "."), ". is a directory"),
    (("shrink",), "No such command 'shrink'"),
]


@pytest.mark.parametrize(("arguments", "message"), USAGE, ids=[message for _, message in USAGE])
def test_usage(tidings: Tidings, folder: Path, arguments: tuple[str, ...], message: str) -> None:
    done = tidings("schema", *arguments)
    assert (done.exit_code, done.stdout) == (2, "")
    assert message in done.stderr
    assert left_behind(folder) == []
