"""A guess corrected by a person: another kind or name, a unit, no such field; and what that does to records.

The command's questions and the page's form both come here. A correction is what a mapping file would say, so every
mistake is found by the same checks."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from collections.abc import Mapping as TypingMapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tidings.errors import one_of, suggestion
from tidings.feeds.errors import WrongMapping
from tidings.feeds.event_maker import EventMaker
from tidings.feeds.mapping.mapping import Mapping
from tidings.feeds.mapping.mapping_file import FIELD_KEYS, mapping_of
from tidings.feeds.mapping.mapping_text import write_mapping
from tidings.feeds.records.records import Record
from tidings.schema import Catalog, Kind

NAME, SKIP = "name", "skip"
KEYS = (NAME, SKIP, *(key for key in FIELD_KEYS if key not in ("constant", "replace")))
_FLAGS = ("mandatory", "several", "grow", "open", "strip", "lower", SKIP)
_LISTS = ("unit", "time_format", "missing")
_WORDS = {"yes": True, "true": True, "": True, "no": False, "false": False}
_ONLY = {  # keys that another kind makes void, unless they were typed with it
    "grow": (Kind.ENUMERATED, Kind.HIERARCHICAL),
    "open": (Kind.ENUMERATED,),
    "path": (Kind.HIERARCHICAL,),
    "parent": (Kind.HIERARCHICAL,),
}


@dataclass(frozen=True, slots=True)
class Effect:
    """What a field makes of some records: the values read, as text, and what is wrong with the others."""

    records: int
    values: tuple[str, ...]
    wrong: tuple[str, ...]


def typed(key: str, texts: list[str], field: str) -> Any:
    """The value of a key as a person typed it; several texts where a key may have several. Raises WrongMapping."""
    if key not in KEYS:
        raise WrongMapping(field, key, f"unknown key{suggestion(key, KEYS)}")
    if key in _FLAGS or (key == "path" and texts[-1].lower() in ("true", "yes")):
        if texts[-1].lower() not in _WORDS:
            raise WrongMapping(field, key, f"expected yes or no, got {texts[-1]!r}")
        return _WORDS[texts[-1].lower()]
    listed = [text for text in texts if text]
    return listed if key in _LISTS and len(listed) > 1 else texts[-1]


def corrected(mapping: Mapping, attribute: str, changes: TypingMapping[str, Any]) -> Mapping:
    """With other keys for one field; an empty value removes a key. Raises WrongMapping."""
    document = tomllib.loads(write_mapping(mapping))
    fields: dict[str, Any] = document["fields"]
    if changes.get(SKIP):
        if len(fields) == 1:
            raise WrongMapping(mapping.name, attribute, "this is the only field; at least one is needed")
        del fields[attribute]
        return _read(document, mapping)
    name = changes.get(NAME) or attribute
    if name != attribute and name in fields:
        raise WrongMapping(mapping.name, NAME, f"another field is called {name!r}")
    table = {**fields[attribute], **{key: value for key, value in changes.items() if key not in (NAME, SKIP)}}
    table = {key: value for key, value in table.items() if value not in ("", [], None)}
    for key, kinds in _ONLY.items():
        if table.get("kind") not in (None, *map(str, kinds)) and not changes.get(key):
            table.pop(key, None)
    document["fields"] = {
        (name if old == attribute else old): (table if old == attribute else fields[old]) for old in fields
    }
    return _read(document, mapping)


def whole(mapping: Mapping, **keys: Any) -> Mapping:
    """With other keys of the mapping itself, such as `event_type` and `id`. Raises WrongMapping."""
    document = {**tomllib.loads(write_mapping(mapping)), **keys}
    return _read({key: value for key, value in document.items() if value not in ("", [])}, mapping)


def times(mapping: Mapping) -> tuple[str, ...]:
    """The paths that may lead to the time of the event."""
    return tuple(one.reading.path for one in mapping.fields if one.kind is Kind.TIME and not one.several)


def happening(mapping: Mapping, path: str) -> Mapping:
    """With the event's time from one of its `times`; an empty path: it is when the event is accepted. Raises
    WrongMapping."""
    found = [one.reading for one in mapping.fields if one.reading.path == path and path in times(mapping)]
    if path and not found:
        raise WrongMapping(mapping.name, "time", f"expected a column of times ({one_of(times(mapping))}), got {path!r}")
    return replace(mapping, time=replace(found[0], on_bad="") if found else None)


def _read(document: dict[str, Any], before: Mapping) -> Mapping:
    read = mapping_of(document, before.file or f"{before.name}.toml", Path())
    return replace(read, name=before.name, origin=before.origin, source=before.source, file=before.file)


def effect(mapping: Mapping, attribute: str, records: Iterable[Record]) -> Effect:
    """What the mapping makes of one attribute; kinds are those of the mapping."""
    maker = EventMaker(mapping, Catalog())
    values: list[str] = []
    wrong: list[str] = []
    count = 0
    for record in records:
        count += 1
        made = maker.make(record)
        if attribute in made.raw["attributes"]:
            values.append(str(made.raw["attributes"][attribute]))
        wrong += [bad.message for bad in (*made.errors, *made.left_out) if bad.attribute == attribute]
    return Effect(count, tuple(values), tuple(wrong))
