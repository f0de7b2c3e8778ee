"""The rows of the filter builder, in groups."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

Join = Literal["and", "or"]


@dataclass(frozen=True, slots=True)
class Row:
    attribute: str
    operator: str
    values: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Rows:
    """`join` is put between the groups."""

    join: Join
    groups: tuple[tuple[Row, ...], ...]

    def as_json(self) -> dict[str, Any]:
        groups = [
            [{"attribute": row.attribute, "operator": row.operator, "values": list(row.values)} for row in group]
            for group in self.groups
        ]
        return {"join": self.join, "groups": groups}
