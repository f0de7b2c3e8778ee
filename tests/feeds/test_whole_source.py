"""Inference looks at all records of a source: what comes late in a file is not refused, or is announced."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tidings.feeds import Proposal, infer, propose, read_mapping
from tidings.feeds.inference import infer as inference
from tidings.feeds.inference.ids import Repeats, tell_apart
from tidings.feeds.inference.source_records import SourceRecords, spread
from tidings.feeds.mapping.mapping import Field, Layout, Origin
from tidings.feeds.preview import previewed
from tidings.feeds.records.records import read_records
from tidings.feeds.sources.content import Content
from tidings.schema import Catalog, Domain, Kind

MANY = 3_000  # records, of which a tenth are sampled


@pytest.fixture(autouse=True)
def small_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inference, "SAMPLED", MANY // 10)


def inferred(records: list[dict[str, Any]], form: str = "json", **more: Any) -> tuple[Proposal, list[dict[str, Any]]]:
    """The proposal, and the records that it would refuse or leave something out of."""
    text = "\n".join(map(json.dumps, records)) if form == "json" else csv(records)
    content = Content("there", text.encode())
    found = infer(content, Layout(form), Origin(url="http://x/"), "thing", **more)
    rows = read_records(content, found.mapping.layout, found.mapping.paths)
    made = [one for one in previewed(found.mapping, rows, found.catalog) if one.keys() - {"event", "appends"}]
    return found, made


def csv(records: list[dict[str, Any]]) -> str:
    return "\n".join(",".join(map(str, row)) for row in (records[0], *(one.values() for one in records)))


def field(found: Proposal, name: str) -> Field:
    return next(one for one in found.mapping.fields if one.attribute == name)


def late(value: Any, usual: Any, count: int) -> list[dict[str, Any]]:
    """The last `count` records are of another kind."""
    return [{"no": n % 7, "it": value if n >= MANY - count else usual} for n in range(MANY)]


def test_a_value_that_is_a_list_only_in_the_last_record() -> None:
    found, wrong = inferred(late(["a", "b"], "a", 1))
    assert field(found, "it").several
    assert wrong == []
    assert (found.records, found.remarks) == (MANY, ())


def test_a_field_that_only_the_last_record_has() -> None:
    found, wrong = inferred([*late("a", "a", 1), {"no": 1, "it": "a", "more": {"at": "2026-01-01"}}])
    assert str(field(found, "more_at").kind) == "time"
    assert wrong == []


def test_codes_at_the_end_of_a_column_of_numbers_keep_it_text() -> None:
    records = [{"no": n % 7, "it": f"{n}a" if n == MANY - 1 else str(n)} for n in range(MANY)]
    found, wrong = inferred(records, "csv")
    assert str(field(found, "it").kind) == "string"
    assert wrong == []


def test_half_a_column_without_numbers_is_text_though_the_first_half_has_none_else() -> None:
    records = [{"no": n % 7, "it": str(n) if n < MANY / 2 else f"a word for {n}"} for n in range(MANY)]
    found, wrong = inferred(records, "csv")
    assert str(field(found, "it").kind) == "string"
    assert wrong == []


def test_a_little_junk_at_the_end_is_left_out_and_announced_with_its_line() -> None:
    records = [{"no": n % 7, "it": "nicht unter 5" if n == MANY - 1 else n} for n in range(MANY)]
    found, wrong = inferred(records, "csv")
    assert str(field(found, "it").kind) == "numeric"
    assert len(wrong) == 1
    (said,) = (one for one in found.remarks if "would be refused" in one)
    counts = "of these 3,000 records 0 would be refused and 1 bad values left out"
    assert said.startswith(f"{counts}; first: line 3,001: 'it': 'nicht unter 5' cannot be read as a number")


def test_a_file_in_order_of_its_brands_has_an_enumeration_of_them() -> None:
    found, wrong = inferred([{"no": n % 7, "brand": f"b{n // 100}"} for n in range(MANY)], "csv")
    domain = found.catalog.domain("brand")
    assert domain is not None
    assert (str(domain.kind), domain.open, wrong) == ("enumerated", True, [])
    assert len(domain.values) == MANY // 100


def test_an_enumeration_that_is_not_open_has_the_values_of_all_records(tmp_path: Path) -> None:
    (tmp_path / "own.csv").write_text(csv(late("last", "first", 1)))
    (tmp_path / "own.toml").write_text(
        'file = "own.csv"\nevent_type = "thing"\n[fields]\nit = { from = "it", kind = "enumerated" }\n'
    )
    mapping = read_mapping(tmp_path / "own.toml")
    content = Content("there", (tmp_path / "own.csv").read_bytes())
    found = propose(mapping, SourceRecords([content], mapping.layout, mapping.paths))
    domain = found.catalog.domain("it")
    assert domain is not None
    assert (domain.values, found.remarks) == (("first", "last"), ())


def test_a_column_that_repeats_after_the_sample_is_not_the_id() -> None:
    records = [{"id": n % (MANY - 1), "other": f"c{n}"} for n in range(MANY)]
    found, _ = inferred(records, "csv")
    assert found.mapping.id == ()
    assert found.remarks == (
        "'id' is not the id: it is missing or repeated in later records",
        "every record has its own 'other'; add id = \"other\" if it identifies the event",
    )
    for one in records:
        one["id"] = one["other"]
    assert inferred(records, "csv")[0].mapping.id == ("id",)


def test_an_id_that_a_mapping_names_and_that_repeats_is_announced(tmp_path: Path) -> None:
    (tmp_path / "own.toml").write_text('file = "own.csv"\nevent_type = "thing"\nid = "no"\n[fields]\nit = "it"\n')
    mapping = read_mapping(tmp_path / "own.toml")
    found = propose(mapping, [{"no": (str(n % 2_998),), "it": ("a",)} for n in range(MANY)])
    said = "2 of these 3,000 records have the id of an earlier one and would not be published; choose another id"
    assert found.remarks == (said,)


def test_more_values_than_a_run_may_append_are_announced() -> None:
    there = infer(Content("t", b"no,it\n1,a\n2,b"), Layout("csv"), Origin(url="u"), "thing").catalog
    it = Domain("it", Kind.ENUMERATED, values=("a", "b"))
    closed = replace(there, domains=tuple(it if one.name == "it" else one for one in there.domains))
    found, _ = inferred([{"no": n % 7, "it": f"v{n % 2_100}"} for n in range(MANY)], "csv", there=closed)
    said = "a run would append more than 1,000 values, and refuse records with others; raise grow_limit"
    assert found.remarks == (said,)
    found, _ = inferred([{"no": n % 7, "it": f"v{n % 1_900}"} for n in range(MANY)], "csv", there=closed)
    assert found.remarks == ()


def test_what_the_schema_that_is_there_would_refuse_is_announced() -> None:
    there = infer(Content("t", b"no,it\n1,a\n2,b"), Layout("csv"), Origin(url="u"), "thing", ["it"]).catalog
    records = [{"no": n % 7, "it": "" if n == MANY - 1 else f"word {n}"} for n in range(MANY)]
    found, _ = inferred(records, "csv", there=there)
    (said,) = (one for one in found.remarks if "would be refused" in one)
    assert said.startswith("of these 3,000 records 1 would be refused and 0 bad values left out; first: line 3,001: ")


def test_records_beyond_a_limit_are_not_looked_at_and_that_is_said() -> None:
    found, _ = inferred(late(["a", "b"], "a", 1), most=1_000)
    assert not field(found, "it").several
    assert found.records == 1_000
    assert found.remarks == ("only the first 1,000 records were looked at; later ones may be refused",)


def test_a_sample_is_from_all_over_the_records() -> None:
    records: list[Any] = [{"n": (n,)} for n in range(10_000)]
    sample, count = spread(iter(records), 1_000)
    numbers = [one["n"][0] for one in sample]
    assert count == 10_000
    assert numbers[:500] == list(range(500))
    assert numbers == sorted(set(numbers))
    assert 4_800 < sum(numbers[500:]) / 500 < 5_700
    assert spread(records[:1_000], 1_000) == (records[:1_000], 1_000)
    assert spread([], 1_000) == ([], 0)


def test_what_cannot_be_read_in_one_file_stops_no_other() -> None:
    def contents() -> Iterator[Content]:
        yield Content("a.csv", b"x\n1\n", of=3)
        yield Content("b.csv", b"y\n1\n", of=3)
        yield Content("c.csv", b"x\n2\n", of=3)

    records = SourceRecords(list(contents()), Layout("csv"), ["x"])
    assert [one["x"] for one in records] == [("1",), ("2",)]
    assert (len(records.problems), records.place) == (1, "c.csv: line 2")


def test_ids_of_several_columns() -> None:
    records: list[Any] = [{"a": (str(n % 10),), "b": (str(n // 10),)} for n in range(100)]
    assert tell_apart(("a", "b"), records)
    assert not tell_apart(("a",), records)
    assert not tell_apart(("a", "c"), records)
    repeats = Repeats()
    assert repeats.count == 0
    for text in "abca":
        repeats.see(text)
    assert repeats.count == 1


def test_nothing_is_different_where_nothing_is_there() -> None:
    assert propose(read_nothing(), []).remarks == ()


def read_nothing() -> Any:
    return infer(Content("t", b"no\n1"), Layout("csv"), Origin(url="u"), "thing", there=Catalog()).mapping


def test_damaged_lines_are_announced_and_hide_nothing() -> None:
    lines = [json.dumps({"id": n, "brand": "mini" if n % 2 else "audi"}) for n in range(30)]
    content = Content("there", "\n".join([*lines[:7], lines[7][:9], *lines[8:]]).encode())
    found = infer(content, Layout("json"), Origin(file=Path("there.json")), "car")
    assert found.mapping.id == ("id",)
    assert [one.kind for one in found.mapping.fields] == [Kind.NUMERIC, Kind.ENUMERATED]
    (told,) = [remark for remark in found.remarks if "would be refused" in remark]
    assert told.startswith("of these 30 records 1 would be refused and 0 bad values left out; first: line 8: not valid")
