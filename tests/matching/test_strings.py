"""`starts with`, `ends with` and `like` on the default algorithm: worked examples, as plans, one by one and as text."""

from __future__ import annotations

from pathlib import Path

from tidings.events import Event, EventBatch, validate
from tidings.language import Filter, Subscription
from tidings.matching.boxes.filter_batch import FilterBatch
from tidings.matching.explain import explain
from tidings.matching.index.box_matcher import BoxMatcher
from tidings.matching.naive_matcher import NaiveMatcher
from tidings.matching.plan.folder import open_plan, save_plan
from tidings.schema import Catalog

SCHEMA = Catalog.from_dict(
    {
        "domains": [{"name": "string", "kind": "string"}],
        "attributes": [{"name": name, "domain": "string"} for name in ("title", "names", "other")],
        "event_types": [
            {
                "name": "any",
                "attributes": [
                    {"name": "title", "mandatory": False},
                    {"name": "other", "mandatory": False},
                    {"name": "names", "mandatory": False, "unique": False},
                ],
            }
        ],
    }
)


def event(**attributes: object) -> Event:
    return validate({"id": "e", "event_type": "any", "attributes": attributes}, SCHEMA)


CASES = [
    ("title starts with 'Red'", event(title="Red Mini"), True),
    ("title starts with 'Red'", event(title="red Mini"), False),
    ("title starts with 'Red'", event(title="Re"), False),
    ("title starts with '\ud7ff'", event(title="\ud7ffx"), True),  # before the surrogates, which no text has
    ("title starts with ''", event(title=""), True),
    ("title starts with ''", event(other="x"), False),
    ("title not starts with 'Red'", event(title="Blue"), True),
    ("title not starts with 'Red'", event(other="Blue"), False),
    ("title ends with '.pdf'", event(title="a.pdf"), True),
    ("title ends with '.pdf'", event(title="a.pdf.gz"), False),
    ("title not ends with '.pdf'", event(title="a.pdf.gz"), True),
    ("title like 'a%b_c'", event(title="a--bxc"), True),
    ("title like 'a%b_c'", event(title="a--bc"), False),
    ("title like 'a_%'", event(title="a"), False),
    ("title like 'a_%'", event(title="ab"), True),
    ("title like 'aba%aba'", event(title="aba"), False),
    ("title like '%\n%'", event(title="two\nlines"), True),
    ("title not like 'a%'", event(title="ba"), True),
    ("names starts with 'a' and names ends with 'z'", event(names=["ab", "yz"]), False),
    ("names starts with 'a' and names ends with 'z'", event(names=["ab", "az"]), True),
    ("names ends with 'z' and names > 'm'", event(names=["az", "x"]), False),
    ("names ends with 'z' and names > 'm'", event(names=["az", "nz"]), True),
    ("names ends with 'z' and names != other", event(names=["az", "b"], other="az"), False),
    ("names like '%b%c%' and names like '%c%d%'", event(names=["abc", "acd"]), False),
    ("names like '%b%c%' and names like '%c%d%'", event(names=["abcd", "x"]), True),
    ("names not like '%b%'", event(names=["abc", "x"]), True),
    ("not (names like '%b%')", event(names=["abc"]), False),
]


def test_every_case_by_kernel_by_merge_by_plan_by_text_and_by_specification(tmp_path: Path) -> None:
    boxes, naive, bulk = BoxMatcher(SCHEMA, 1), NaiveMatcher(SCHEMA), BoxMatcher(SCHEMA, 1)
    ids, texts = [f"{number:02}" for number in range(len(CASES))], [text for text, _, _ in CASES]
    for id, text in zip(ids, texts, strict=True):
        subscription = Subscription(id, Filter.parse(text, SCHEMA))
        for matcher in (boxes, naive):
            matcher.add(subscription)
        boxes.settled_segments()  # each in a segment of its own, to be merged
    batch = EventBatch.of([one for _, one, _ in CASES], SCHEMA)
    expected = [[naive.id(n) for n in naive.match(batch).of(row).tolist()] for row in range(len(batch))]
    for row, (text, _, holds) in enumerate(CASES):
        assert (ids[row] in expected[row]) is holds, text
    bulk.add_batch(ids, FilterBatch.of_texts(texts, SCHEMA), 0)
    boxes.merge()
    save_plan(boxes, tmp_path / "plan", None)
    for matcher in (boxes, open_plan(tmp_path / "plan", 1), bulk):
        found = matcher.match(batch)
        assert [sorted(matcher.id(n) for n in found.of(row).tolist()) for row in range(len(batch))] == expected
        alone = [sorted(matcher.id(n) for n in matcher.match_one(one).tolist()) for _, one, _ in CASES]
        assert alone == expected


def test_what_fits_is_marked() -> None:
    made = explain(Filter.parse("title like 'a%c_'", SCHEMA), event(title="abbcx"), SCHEMA)
    (finding,) = made.alternatives[0].findings
    assert [(mark.start, mark.end) for mark in finding.marks] == [(0, 1), (3, 5)]
