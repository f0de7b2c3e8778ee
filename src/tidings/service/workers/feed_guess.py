"""What the processes of `inquiries` are asked about a file that somebody wants to feed: the guessed mapping, what it
makes of the first records once corrected, and the schema changes it needs.

A stranger's file is only ever parsed here, in a process with a limit of time."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tidings.schema import Catalog
from tidings.schema.growth import Change
from tidings.store import Store

if TYPE_CHECKING:
    from tidings.feeds import Mapping
    from tidings.feeds.mapping.mapping import Field
    from tidings.feeds.records.records import Record

SHOWN = 20  # records
KEYS = (
    "name",
    "kind",
    "unit",
    "decimal",
    "time_format",
    "zone",
    "split",
    "missing",
    "pattern",
    "replace",
    "path",
    "parent",
    "on_bad",
)
FLAGS = ("mandatory", "several", "grow", "open")


@dataclass(frozen=True, slots=True)
class Sample:
    """The beginning of a file, and what is said of all of it; `place` is its name or URL, from which the feed reads."""

    text: str
    place: str
    event_type: str = ""
    id: str | None = None  # paths, separated by commas; None: as guessed
    time: str | None = None  # the path of the event's time; None: as guessed


@dataclass(frozen=True, slots=True)
class GuessedField:
    """`said` has the mapping's keys as text; `read` are values of the first records, `wrong` what is bad among them."""

    path: str
    seen: str
    said: dict[str, str]
    flags: dict[str, bool]
    kept: bool = True
    read: tuple[str, ...] = ()
    wrong: tuple[str, ...] = ()
    problem: str = ""


@dataclass(frozen=True, slots=True)
class FeedGuess:
    """`events` are the first records as events, each as in a preview; `mapping` is the text of the mapping file. Both
    are empty while a field has a problem."""

    what: str
    ready: str
    event_type: str
    id: str
    time: str
    times: tuple[str, ...]  # the paths that could be its time
    fields: tuple[GuessedField, ...]
    records: int
    remarks: tuple[str, ...] = ()
    events: tuple[str, ...] = ()
    refused: int = 0
    mapping: str = ""
    changes: tuple[Change, ...] = field(default=())


Answers = dict[int, dict[str, Any]]  # by the field's number; `skip` or keys of a mapping


def guess_feed(store: Store, sample: Sample, answers: Answers | None = None) -> FeedGuess:
    """`answers`: the fields as corrected; None: as guessed, with names that fit the schema. Raises FeedError."""
    from tidings.feeds.inference.corrections import happening, times, whole
    from tidings.feeds.mapping.mapping import Origin
    from tidings.feeds.ready.ready import fitted, proposed
    from tidings.feeds.ready.recognition import recognized
    from tidings.feeds.records.records import read_records
    from tidings.feeds.sources.content import Content

    there = store.catalog()
    content = Content(sample.place, sample.text.encode())
    found = recognized(content, sample.place)
    is_url = sample.place.startswith(("http://", "https://"))
    origin = Origin(url=sample.place) if is_url else Origin(file=Path(sample.place))
    stem = "".join(letter if letter.isalnum() else "_" for letter in Path(sample.place).stem.lower()).strip("_")
    guess = proposed(content, found, origin, sample.event_type or ("" if found.ready else stem or "event"))
    records = list(islice(read_records(content, guess.mapping.layout, guess.mapping.paths), guess.records))
    names: list[str] = [one.attribute for one in guess.mapping.fields]  # empty for fields that are left out
    problems: dict[int, str] = {}
    if answers is None:
        mapping = fitted(guess.mapping, there)
        names = [one.attribute for one in mapping.fields]
    else:
        mapping = _corrected(guess.mapping, answers, there, names, problems)
    if sample.id is not None:
        mapping = whole(mapping, id=[path.strip() for path in sample.id.split(",") if path.strip()])
    if sample.time is not None and not problems and sample.time != _time(mapping):
        mapping = happening(mapping, sample.time)
    first = records[:SHOWN]
    current = {one.attribute: one for one in mapping.fields}
    effects = _effects(mapping, first)
    fields = []
    for number, (name, one) in enumerate(zip(names, guess.mapping.fields, strict=True)):
        said = _said(current.get(name, one)) | _texts((answers or {}).get(number, {}))
        flags = {flag: bool(getattr(current.get(name, one), flag)) for flag in FLAGS}
        read, wrong = effects.get(name, ((), ()))
        seen = guess.seen[one.attribute]
        fields.append(GuessedField(_where(one), seen, said, flags, bool(name), read, wrong, problems.get(number, "")))
    made = FeedGuess(
        found.what,
        found.ready,
        ", ".join(mapping.event_types),
        ", ".join(mapping.id),
        _time(mapping),
        tuple(dict.fromkeys((*filter(None, [_time(mapping)]), *times(mapping)))),
        tuple(fields),
        len(records),
        guess.remarks,
    )
    return made if problems else _finished(made, mapping, records, there)


def _corrected(
    mapping: Mapping, answers: Answers, there: Catalog, names: list[str], problems: dict[int, str]
) -> Mapping:
    """With what was said of the fields; `names` become those said, and `problems` what is wrong, by the number."""
    from tidings.errors import TidingsError
    from tidings.feeds.event_maker import kind_of
    from tidings.feeds.inference.corrections import corrected

    for number, one in enumerate(mapping.fields):
        said, before = answers.get(number, {}), _said(one)
        changes: dict[str, Any] = {
            key: _meant(key, value) for key, value in said.items() if key in KEYS and value != before[key]
        }
        changes |= {key: value for key, value in said.items() if key in FLAGS and value != getattr(one, key)}
        try:
            if said.get("skip"):
                changes = {"skip": True}
            if changes:
                mapping = corrected(mapping, one.attribute, changes)
            names[number] = "" if said.get("skip") else changes.get("name") or one.attribute
            kind_of(next(found for found in mapping.fields if found.attribute == names[number]), there)
        except StopIteration:
            continue  # it is left out
        except TidingsError as problem:
            problems[number] = str(problem)
    return mapping


def _effects(mapping: Mapping, records: list[Record]) -> dict[str, tuple[tuple[str, ...], tuple[str, ...]]]:
    """By attribute: the values read, and what is wrong with others."""
    from tidings.feeds.event_maker import EventMaker

    maker = EventMaker(mapping, Catalog())
    made = [maker.make(record) for record in records]
    return {
        one.attribute: (
            tuple(
                json.dumps(each.raw["attributes"][one.attribute], ensure_ascii=False)
                for each in made
                if one.attribute in each.raw["attributes"]
            ),
            tuple(
                bad.message for each in made for bad in (*each.errors, *each.left_out) if bad.attribute == one.attribute
            ),
        )
        for one in mapping.fields
    }


def _finished(made: FeedGuess, mapping: Mapping, records: list[Record], there: Catalog) -> FeedGuess:
    """With the events, the mapping's text and the changes. Raises SchemaClash and NoValues."""
    from tidings.feeds import propose
    from tidings.feeds.inference.checking import PROMISE
    from tidings.feeds.inference.infer import TIMES
    from tidings.feeds.inference.schema_changes import changes, check_values
    from tidings.feeds.mapping.mapping_text import write_mapping
    from tidings.feeds.preview import previewed

    agreed = propose(mapping, records, there)
    wanted = tuple(changes(agreed.catalog, there))
    check_values(agreed.mapping, wanted)
    shown = list(previewed(mapping, records[:SHOWN], agreed.catalog))
    return replace(
        made,
        # What the guess would leave out is told of the mapping as corrected, and the form asks for the time.
        remarks=(*(one for one in made.remarks if PROMISE not in one and TIMES not in one), *agreed.remarks),
        events=tuple(json.dumps(one, ensure_ascii=False) for one in shown),
        refused=sum("errors" in one for one in shown),
        mapping=write_mapping(agreed.mapping, agreed.seen),
        changes=wanted,
    )


def _time(mapping: Mapping) -> str:
    return "" if mapping.time is None else mapping.time.path


def _said(one: Field) -> dict[str, str]:
    """The keys that a form has fields for, as text."""
    reading = one.reading
    texts = {
        "name": one.attribute,
        "kind": str(one.kind or ""),
        "unit": _joined(reading.unit),
        "decimal": reading.decimal,
        "time_format": _joined(reading.time_format),
        "zone": reading.zone,
        "split": reading.split,
        "missing": _joined(reading.missing),
        "pattern": reading.pattern,
        "replace": ", ".join(f"{old}={new}" for old, new in reading.replace),
        "path": one.path if isinstance(one.path, str) else "true" if one.path else "",
        "parent": one.parent,
        "on_bad": reading.on_bad,
    }
    assert tuple(texts) == KEYS
    return texts


def _meant(key: str, text: str) -> Any:
    """`true` for the names of a list; `ja=yes, nein=no` as a table. Else the mapping is refused."""
    if key == "path" and text == "true":
        return True
    if key == "replace" and text:
        pairs = [pair.partition("=") for pair in text.split(",") if pair.strip()]
        return {old.strip(): new.strip() for old, sign, new in pairs if sign} if all(p[1] for p in pairs) else text
    return text


def _joined(texts: tuple[str, ...]) -> str:
    return texts[0] if len(texts) == 1 else ""


def _texts(answer: dict[str, Any]) -> dict[str, str]:
    return {key: answer[key] for key in KEYS if key in answer}


def _where(one: Field) -> str:
    return f"{one.reading.path}, {one.longitude}" if one.longitude else one.reading.path or str(one.reading.constant)
