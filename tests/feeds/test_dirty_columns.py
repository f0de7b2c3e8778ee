"""Columns of numbers and times stay so when some of their values are junk; that junk is left out and told."""

from collections import Counter
from typing import Any

import pytest

from tests.feeds.dirty_cars import FAULTS, ONLY_JSON, dirty_cars
from tidings.feeds import Proposal, infer
from tidings.feeds.event_maker import EventMaker
from tidings.feeds.mapping.mapping import Layout, Origin
from tidings.feeds.mapping.mapping_text import write_mapping
from tidings.feeds.records.records import read_records
from tidings.feeds.sources.content import Content

NUMBERS = [f"{500 + 37 * n}" for n in range(47)]
DATES = [f"{1 + n % 28}-FEB-1987 15:01:{n:02}.79" for n in range(47)]


def inferred(content: Content, form: str = "csv", records: str = "") -> tuple[Proposal, list[Any]]:
    found = infer(content, Layout(form, records), Origin(url="http://x/"), "thing")
    maker = EventMaker(found.mapping, found.catalog)
    made = [maker.make(one) for one in read_records(content, found.mapping.layout, found.mapping.paths)]
    assert not any(one.errors for one in made)
    return found, made


def column(values: list[str]) -> tuple[Proposal, list[Any]]:
    return inferred(Content("there", ("a,b\n" + "".join(f'"{one}",x\n' for one in values)).encode()))


@pytest.mark.parametrize(
    ("values", "kind", "left_out"),
    [
        ([*NUMBERS, "nicht unter 5000", "12 Raten", "VB"], "numeric", 3),
        ([*(f"${one}" for one in NUMBERS), "EUR 900", "10-20"], "numeric", 2),
        ([*NUMBERS, "EUR 900"], "numeric", 1),  # not 900 of something
        (["1.250,50 €", *(f"{n}.000,99 €" for n in range(1, 30)), "VB"], "numeric", 1),
        ([*NUMBERS[:20], "VB", "VB", "VB"], "string", 0),  # too many are not
        ([*NUMBERS[:15], "VB"], "string", 0),  # too few to tell
        ([*NUMBERS, "12a"], "string", 0),  # numbers of houses
        ([f"0{one}" for one in NUMBERS] + ["VB"], "string", 0),  # codes
        (["4", "6", "8"] * 16 + ["rotary"] * 3, "enumerated", 0),
        (DATES, "time", 0),
        ([*DATES, "26-FEB-1987 15:01:01.79 #", "Feb?"], "time", 2),
        ([*(f"Dec-{1 + n % 28:02}-01 04:03:12" for n in range(30)), "soon"], "time", 1),
        ([*(f"2026-05-{1 + n % 28:02}" for n in range(30)), "2026-13-01"], "time", 1),
        ([*(f"{1 + n % 12:02}/05/2026" for n in range(30)), "soon"], "string", 0),  # of January to December, or of May
        ([*(f"{1 + n % 28:02}/05/2026" for n in range(40)), "soon"], "time", 1),
    ],
)
def test_kinds(values: list[str], kind: str, left_out: int) -> None:
    found, made = column(values)
    first = found.mapping.fields[0]
    assert str(first.kind) == kind
    assert sum(len(one.left_out) for one in made) == left_out
    announced = [remark for remark in found.remarks if f"0 would be refused and {left_out} bad values" in remark]
    assert bool(announced) is bool(left_out)


def test_what_is_left_out_is_told_beside_the_field() -> None:
    found, _ = column([*NUMBERS, "VB", "EUR 900"])
    assert found.mapping.fields[0].reading.unit == ("none",)
    why = "numeric: most values are numbers; others are skipped, e.g. 'VB', 'EUR 900'"
    assert found.seen["a"].endswith(why)
    assert f'{why}\n[fields.a]\nfrom = "a"\nunit = "none"\n' in write_mapping(found.mapping, found.seen)


@pytest.mark.parametrize("form", ["csv", "json"])
def test_the_dirty_file_is_understood_without_a_hand_on_it(form: str) -> None:
    cars = dirty_cars(3_000, as_json=form == "json")
    content = Content("there", cars.csv() if form == "csv" else cars.json_lines())
    found, made = inferred(content, form)
    kinds = {one.attribute: str(one.kind) for one in found.mapping.fields}
    wanted = {"price": "numeric", "km": "numeric", "days": "numeric", "registered": "time", "seen": "time"}
    assert kinds | wanted | {"category": "hierarchical"} == kinds
    units = {one.attribute: one.reading.unit for one in found.mapping.fields if one.reading.unit}
    assert units == {"price": ("$",), "km": ("km",)}
    named = [name for name in FAULTS.values() if name and not name.startswith("category")]  # whose tree has them all
    planted = Counter(dict.fromkeys(named, 0))
    for fault, count in cars.planted.items():
        if FAULTS[fault] in planted and (form == "json" or fault not in ONLY_JSON):
            planted[FAULTS[fault]] += count
    assert Counter(name for one in made for name in one.faults) == +planted


def test_lists_of_objects_with_one_member_are_offered() -> None:
    bids = '[{"Bid": {"Bidder": {"UserID": "u1", "Rating": "5"}, "Amount": "$5.00"}}]'
    items = ", ".join(f'{{"ItemID": "{n}", "Bids": {bids if n % 3 else "null"}}}' for n in range(9))
    found, _ = inferred(Content("there", f'{{"Items": [{items}]}}'.encode()), "json")
    assert found.mapping.layout.records == "/Items"
    assert found.remarks == ("at 'Bids' are records inside the records; --each 'Bids' makes events of them",)


def test_times_that_may_be_the_events_are_named() -> None:
    found, _ = column(DATES)
    form = "%d-%b-%Y %H:%M:%S.%f"
    said = f'\'a\' has times; add time = {{ from = "a", time_format = "{form}" }} if that is when the event happened'
    assert found.remarks[-1] == said
