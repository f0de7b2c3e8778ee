"""The table of problem types, from the service's own."""

from __future__ import annotations

from generated.part import table
from tidings.service.api.problem_types import TYPES


def types() -> str:
    rows = []
    for kind in TYPES.values():
        errors = ", ".join(f"`{error}`" for error in kind.errors)
        rows.append((f"`{kind.uri}`", str(kind.status), kind.meaning, kind.remedy, errors))
    return table(["type", "status", "what it means", "what to do", "errors"], rows)
