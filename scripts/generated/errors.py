"""The index of errors: every class, the status it is answered with, and the page that says what to do."""

from __future__ import annotations

import os
import pkgutil
import re
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path

import tidings
from generated.part import table
from tidings.errors import LanguageError, SchemaError, ServiceError, TidingsError
from tidings.events import RefusedEvent
from tidings.service.api.problem_types import TYPES, problem_type

_SKIPPED = {"README.md", "reference/errors.md"}
_NAMED = {error for kind in TYPES.values() for error in kind.errors} - {"TidingsError", "StoreError", "EventError"}


def index(docs: Path, written: Mapping[Path, str]) -> str:
    for module in pkgutil.walk_packages(tidings.__path__, "tidings."):
        if not module.name.endswith("__main__"):
            import_module(module.name)
    pages = {
        str(page.relative_to(docs)): written.get(page) or page.read_text(encoding="utf-8") for page in _pages(docs)
    }
    rows = []
    for kind in sorted(set(_kinds(TidingsError)), key=lambda kind: (kind.__name__, kind.__module__)):
        room = kind.__module__.split(".")[1]
        rows.append((f"`{kind.__name__}`", f"`{room}`", _status(kind), _told(kind.__name__, pages)))
    return table(["error", "room", "status", "what it means, what to do"], dict.fromkeys(rows))


def _pages(docs: Path) -> list[Path]:
    found = [page for page in sorted(docs.rglob("*.md")) if str(page.relative_to(docs)) not in _SKIPPED]
    # Not the decisions: they explain, and are not for a reader in need.
    return [page for page in found if "decisions" not in page.parts]


def _kinds(kind: type[TidingsError]) -> Iterator[type[TidingsError]]:
    for below in kind.__subclasses__():
        if below.__module__.startswith("tidings."):
            yield below
            yield from _kinds(below)


def _status(kind: type[TidingsError]) -> str:
    """Nothing for what does not reach HTTP: errors of starting up, of files, of other rooms."""
    at_start = kind.__module__.endswith((".service.service", ".listening", ".children", ".supervisor"))
    answered = issubclass(kind, ServiceError | LanguageError | SchemaError | RefusedEvent) and not at_start
    return str(problem_type(kind).status) if answered or kind.__name__ in _NAMED else ""


def _told(name: str, pages: Mapping[str, str]) -> str:
    """The page with the error in a table, else one that names it."""
    for pattern in (rf"^\|[^|]*`{name}`", rf"^\|.*`{name}`", rf"`{name}`"):
        for page, text in pages.items():
            if re.search(pattern, text, re.MULTILINE):
                target = os.path.relpath(page, "reference")
                return f"[{page.removesuffix('.md')}]({target})"
    return ""  # a test asks for a page
