"""Mapping files: what they may say, and what is said about those that may not."""

from pathlib import Path
from typing import Any

import pytest

from tests.feeds.conftest import EXAMPLES
from tidings.feeds import WrongMapping, read_mapping
from tidings.feeds.mapping.mapping import Layout
from tidings.feeds.mapping.mapping_file import mapping_of
from tidings.feeds.mapping.mapping_text import write_mapping
from tidings.schema import Kind

GOOD: dict[str, Any] = {
    "url": "http://127.0.0.1/cars",
    "format": "html",
    "records": "li.item",
    "event_type": "car",
    "fields": {"price": {"from": ".price", "kind": "numeric"}},
}


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.toml")), ids=lambda path: path.stem)
def test_examples_are_read_and_written_alike(path: Path, tmp_path: Path) -> None:
    mapping = read_mapping(path)
    copy = tmp_path / path.name
    copy.write_text(write_mapping(mapping))
    again = read_mapping(copy)
    assert (again.layout, again.fields, again.id, again.time) == (
        mapping.layout,
        mapping.fields,
        mapping.id,
        mapping.time,
    )
    assert again == mapping


def test_what_is_not_said() -> None:
    mapping = mapping_of({"file": "x.csv", "event_type": ["a", "b"], "fields": {"p": "P"}}, "in/f.toml", Path("in"))
    assert mapping.layout == Layout("csv")
    assert mapping.origin.file == Path("in/x.csv")
    assert (mapping.source, mapping.id, mapping.time, mapping.event_types) == ("f", (), None, ("a", "b"))
    assert mapping.fields[0].kind is None
    assert mapping.paths == ("P",)


def test_split_means_several() -> None:
    field = {"from": ".tags", "split": ",", "kind": "enumerated", "grow": True}
    (made,) = mapping_of({**GOOD, "fields": {"tag": field}}, "f", Path()).fields
    assert (made.several, made.grow, made.kind) == (True, True, Kind.ENUMERATED)


WRONG = [
    ({"evry": 5}, "evry", "did you mean 'every'"),
    ({"file": "x"}, "", "got url and file"),
    ({"url": None}, "", "got none of them"),
    ({"url": "ftp://x/y"}, "url", "expected http://"),
    ({"url": "http://"}, "url", "expected http://"),
    ({"url": "http://x:99999/"}, "url", "expected http://"),
    ({"url": "http://a..b/"}, "url", "not a valid URL"),
    ({"url": f"http://{'a' * 64}/"}, "url", "not a valid URL"),
    ({"url": "http://xn--/"}, "url", "not a valid URL"),
    ({"url": None, "folder": "in", "pattern": "**.csv"}, "pattern", "with those in its subfolders; got '**.csv'"),
    ({"url": None, "folder": "in", "pattern": "../*.csv"}, "pattern", "got '../*.csv'"),
    ({"url": None, "folder": "in", "pattern": "/*.csv"}, "pattern", "got '/*.csv'"),
    ({"url": None, "folder": "in", "pattern": "*/**"}, "pattern", "got '*/**'"),
    ({"url": None, "folder": "in", "pattern": "."}, "pattern", "got '.'"),
    ({"every": 0}, "every", "at least 0.1"),
    ({"every": "often"}, "every", "expected a number, got 'often'"),
    ({"every": True}, "every", "expected a number"),
    ({"every": float("nan")}, "every", "expected a number"),
    ({"format": "yaml"}, "format", "expected 'csv', 'json', 'xml', 'html', 'icalendar' or 'log', got 'yaml'"),
    ({"format": None}, "format", "it is missing"),
    ({"records": None}, "records", "it is missing"),
    ({"records": "//li"}, "records", "the path '//li'"),
    ({"records": "li@id"}, "records", "a record is an element"),
    ({"delimiter": ";"}, "delimiter", "only CSV"),
    ({"encoding": "utf-99"}, "encoding", "no encoding 'utf-99'"),
    ({"pattern": "*.html"}, "pattern", "only a folder"),
    ({"event_type": None}, "event_type", "it is missing"),
    ({"event_type": [1]}, "event_type", "expected text or a list of texts, got [1]"),
    ({"id": "a["}, "id", "the path 'a['"),
    ({"time": 5}, "time", "expected a path, or a table"),
    ({"time": {"from": "a", "form": "x"}}, "time.form", "did you mean 'from'"),
    ({"time": {"zone": "UTC"}}, "time.from", "it is missing"),
    ({"grow_limit": 1.5}, "grow_limit", "a whole number"),
    ({"fields": {}}, "fields", "it is missing"),
    ({"fields": {"event_type": "a"}}, "fields.event_type", "reserved"),
    ({"fields": {"p": {"from": "a", "kid": "numeric"}}}, "fields.p.kid", "did you mean 'kind'"),
    ({"fields": {"p": {"from": "a", "kind": "number"}}}, "fields.p.kind", "expected 'numeric'"),
    ({"fields": {"p": {"kind": "numeric"}}}, "fields.p.from", "expected a path, or 'constant'"),
    ({"fields": {"p": {"from": "a", "constant": 1}}}, "fields.p.from", "not both"),
    ({"fields": {"p": {"constant": [1]}}}, "fields.p.constant", "text or a number"),
    ({"fields": {"p": {"from": "a", "decimal": ";"}}}, "fields.p.decimal", "'.' or ','"),
    ({"fields": {"p": {"from": "a", "zone": "Mars/X"}}}, "fields.p.zone", "'Europe/Athens'"),
    ({"fields": {"p": {"from": "a", "zone": "../../etc/passwd"}}}, "fields.p.zone", "expected a time zone"),
    ({"fields": {"p": {"from": "a", "split": ""}}}, "fields.p.split", "got nothing"),
    ({"fields": {"p": {"from": "a", "lower": "yes"}}}, "fields.p.lower", "true or false"),
    ({"fields": {"p": {"from": "a", "missing": 5}}}, "fields.p.missing", "text or a list of texts"),
    ({"fields": {"p": {"from": "a", "kind": "numeric", "grow": True}}}, "fields.p.grow", "only enumerated"),
    ({"fields": {"p": {"from": "a", "kind": "string", "open": True}}}, "fields.p.open", "only enumerated"),
    (
        {"fields": {"p": {"from": "a", "kind": "enumerated", "open": True, "grow": True}}},
        "fields.p.open",
        "remove `grow`",
    ),
    ({"fields": {"p": {"from": "a", "kind": "enumerated", "parent": "b"}}}, "fields.p.parent", "only hierarchical"),
    ({"fields": {"p": {"from": "a", "pattern": "a("}}}, "fields.p.pattern", "expected a regular expression"),
    ({"fields": {"p": {"from": "a", "pattern": "(a)(b)"}}}, "fields.p.pattern", "expected one group"),
    ({"fields": {"p": {"from": "a", "pattern": "a"}}}, "fields.p.pattern", "got 0"),
    ({"fields": {"p": {"from": "a", "pattern": "(a)" * 200}}}, "fields.p.pattern", "at most 500 characters"),
    ({"fields": {"p": {"from": "a", "replace": {"a": 1}}}}, "fields.p.replace", "expected text for 'a', got 1"),
    ({"fields": {"p": {"from": "a", "on_bad": "ignore"}}}, "fields.p.on_bad", "expected 'refuse' or 'missing'"),
    ({"fields": {"p": {"from": "a", "unit": 5}}}, "fields.p.unit", "text or a list of texts"),
    ({"fields": {"two words": 5}}, 'fields."two words"', "expected a path"),
]


@pytest.mark.parametrize(("change", "key", "said"), WRONG, ids=[f"{key}-{said[:12]}" for _, key, said in WRONG])
def test_wrong_keys_name_the_file_the_key_and_what_was_expected(change: dict[str, Any], key: str, said: str) -> None:
    document = {name: value for name, value in {**GOOD, **change}.items() if value is not None}
    with pytest.raises(WrongMapping) as caught:
        mapping_of(document, "own.toml", Path())
    assert caught.value.args[:2] == ("own.toml", key)
    assert str(caught.value).startswith(f"own.toml: {key}")
    assert said in str(caught.value)


@pytest.mark.parametrize("content", [b"a = ", b"\xff", b"a = 1\na = 2", b"x" * (2 << 20), b"a = " + b"[" * 5_000])
def test_no_toml(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    path.write_bytes(content)
    with pytest.raises(WrongMapping, match=r"own\.toml"):
        read_mapping(path)


ODD = {
    **{"from": ".p", "unit": ["$", "US $"], "pattern": r"(\d+) \"k\\m\"", "replace": {'a"b': "c\n", "two words": ""}},
    **{"time_format": ["%d.%m.%Y", "epoch"], "missing": ["NA"], "on_bad": "refuse", "decimal": ","},
}


def test_odd_names_survive_writing(tmp_path: Path) -> None:
    document = {**GOOD, "source": 'a"b\\c\x7f\n😀', "fields": {'odd "name"': ".x", "p": ODD}}
    mapping = mapping_of(document, "f", tmp_path)
    path = tmp_path / "f"
    path.write_text(write_mapping(mapping), encoding="utf-8")
    assert read_mapping(path) == mapping
