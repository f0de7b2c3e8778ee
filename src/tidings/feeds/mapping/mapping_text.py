"""A mapping as the text of a file; `mapping_file` reads it again."""

from __future__ import annotations

import json
from typing import Any

from tidings.feeds.mapping.mapping import EVERY, GROW_LIMIT, Mapping, Reading
from tidings.feeds.mapping.mapping_file import BARE, READING_KEYS


def write_mapping(mapping: Mapping, seen: dict[str, str] | None = None) -> str:
    """The text of which `read_mapping` makes this mapping again; only what differs from the defaults is said.

    `seen` has, for attributes, what stood in their columns: a comment for the reader."""
    origin, layout = mapping.origin, mapping.layout
    lines = [
        ("url", origin.url),
        ("folder", str(origin.folder or "")),
        ("file", str(origin.file or "")),
        ("pattern", origin.pattern if origin.pattern != "*" else ""),
        ("every", origin.every if origin.every != EVERY else ""),
        ("format", layout.format),
        ("records", layout.records),
        ("each", layout.each),
        ("delimiter", layout.delimiter if layout.delimiter != "," else ""),
        ("encoding", layout.encoding),
        ("event_type", _one_or_many(mapping.event_types)),
        ("source", mapping.source),
        ("contact", mapping.contact),
        ("id", _one_or_many(mapping.id)),
        ("grow_limit", mapping.grow_limit if mapping.grow_limit != GROW_LIMIT else ""),
    ]
    text = [f"{key} = {_toml(value)}" for key, value in lines if value not in ("", [])]
    if mapping.time is not None:
        text += ["", "[time]", *_reading_lines(mapping.time)]
    for one in mapping.fields:
        text += ["", *([_comment(seen[one.attribute])] if seen and one.attribute in seen else [])]
        text += [f"[fields.{one.attribute if BARE.fullmatch(one.attribute) else _toml(one.attribute)}]"]
        text += _reading_lines(one.reading, "latitude" if one.longitude else "from")
        members: list[tuple[str, Any, Any]] = [
            ("kind", str(one.kind or ""), ""),
            ("domain", one.domain, ""),
            ("mandatory", one.mandatory, False),
            ("several", one.several, bool(one.reading.split)),
            ("grow", one.grow, False),
            ("open", one.open, False),
            ("parent", one.parent, ""),
            ("path", one.path, False),
            ("longitude", one.longitude, ""),
        ]
        text += [f"{key} = {_toml(value)}" for key, value, default in members if value != default]
    return "\n".join(text) + "\n"


def _comment(line: str) -> str:
    return "# " + "".join(character if character.isprintable() else " " for character in line)


def _reading_lines(reading: Reading, path: str = "from") -> list[str]:
    """`path` is the key of its path."""
    plain = Reading()
    named = zip((path, *READING_KEYS[1:]), Reading.__slots__, strict=True)
    pairs = [(key, getattr(reading, name), getattr(plain, name)) for key, name in named]
    return [f"{key} = {_value(key, value)}" for key, value, default in pairs if value != default]


def _value(key: str, value: Any) -> str:
    if key == "replace":
        return f"{{ {', '.join(f'{_toml(old)} = {_toml(new)}' for old, new in value)} }}"
    return _toml(_one_or_many(value) if isinstance(value, tuple) else value)


def _one_or_many(texts: tuple[str, ...]) -> str | list[str]:
    return texts[0] if len(texts) == 1 else list(texts)


def _toml(value: Any) -> str:
    match value:
        case bool():
            return str(value).lower()
        case int() | float():
            return repr(value)
        case list() | tuple():
            return f"[{', '.join(_toml(one) for one in value)}]"
        case _:
            text = str(value).encode("utf-8", "replace").decode()
            return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
