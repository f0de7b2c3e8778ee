"""The tables of options in docs/commands.md, from the commands themselves; the rest of the page is written by hand."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Literal, get_args, get_origin

import typer

from generated.part import Stale, table
from tidings.cli.main import app

_SECTION = re.compile(r"^## `(tidings [^`]+)`\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
_TABLE = re.compile(r"^\| option \|.*\n(?:\|.*\n)*", re.MULTILINE)
_CODE = re.compile(r"(?<![`\w-])(--[a-z][a-z-]*|TIDINGS_[A-Z_]+|tidings\.db|postgresql://…)(?!`)")
_NUMBERS = {int: "N", float: "N", str: "TEXT"}


def with_options(page: str) -> str:
    known = dict(_leaves(typer.main.get_command(app), "tidings"))

    def anew(found: re.Match[str]) -> str:
        name, text = found[1], found[2]
        if name not in known:
            raise Stale(f"docs/commands.md has a section for {name}, which is no command")
        made = _options(known[name])
        if _TABLE.search(text):
            text = _TABLE.sub(lambda _: made + "\n", text, count=1)
        elif made:
            text = f"{text.rstrip()}\n\n{made}\n\n"
        return f"## `{name}`\n{text}"

    return _SECTION.sub(anew, page).rstrip() + "\n"


def _leaves(command: Any, name: str) -> Iterator[tuple[str, Any]]:
    if not hasattr(command, "commands"):
        yield name, command
        return
    if command.invoke_without_command and name != "tidings":
        yield name, command
    for word, below in command.commands.items():
        yield from _leaves(below, f"{name} {word}")


def _options(command: Any) -> str:
    rows = []
    for one in command.params:
        if one.hidden or "--help" in one.opts:
            continue
        rows.append((_written(one), _meaning(one.help or ""), _default(one)))
    return table(["option", "", "default"], rows) if rows else ""


def _written(one: Any) -> str:
    if one.param_type_name == "argument":
        shown = one.metavar or one.name.upper()
        return f"`{shown}`"
    names = [f"`{name}`" for name in (*one.opts, *one.secondary_opts)]
    if one.is_flag:
        return ", ".join(names)
    return ", ".join(f"{name[:-1]} {_value(one)}`" for name in names)


def _value(one: Any) -> str:
    if one.metavar:
        return str(one.metavar)
    kind = one.type_descriptor.annotation
    for part in (kind, *get_args(kind)):
        if get_origin(part) is Literal:
            return "|".join(map(str, get_args(part)))
        if part in _NUMBERS:
            return _NUMBERS[part]
    return str(one.name).upper()


def _meaning(text: str) -> str:
    """As a part of a table: without the full stop of a sentence, and small."""
    text = _CODE.sub(r"`\1`", text.removesuffix(".") if text.count(". ") == 0 else text)
    first, _, rest = text.partition(" ")
    plain = first[:1].isupper() and first[1:].islower() and first not in ("Spark's", "Kafka", "Apprise")
    return (first.lower() if plain or first in ("A", "I") else first) + (f" {rest}" if rest else "")


def _default(one: Any) -> str:
    said = []
    if one.required:
        return "must be given"
    if one.envvar:
        said.append(f"`{one.envvar}`")
    default = one.default
    if isinstance(default, bool) or default in (None, "", (), []):
        pass
    elif isinstance(default, int | float):
        said.append(f"{default:,}" if isinstance(default, int) and default > 9_999 else f"{default:g}")
    else:
        said.append(f"`{default}`")
    return ", else ".join(said)
