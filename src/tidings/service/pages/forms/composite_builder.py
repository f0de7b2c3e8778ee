"""The builder of composites: the common shapes with their fields, and the text that they mean."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from tidings.language.operand_text import quoted
from tidings.language.tokens import KEYWORDS, NAME
from tidings.service.pages.forms.form import Form

Shape = Literal["before", "unless", "times", "absent"]
SHAPES: dict[Shape, str] = {
    "before": "one event, then another",
    "unless": "one event, and not another after it",
    "times": "an event several times",
    "absent": "nothing happens for a while",
}
UNITS = {"s": "seconds", "min": "minutes", "h": "hours", "day": "days"}
_A, _B = "event_type exists", "event_type exists"


@dataclass(frozen=True, slots=True)
class Builder:
    """What the fields say; each may be empty."""

    shape: Shape = "before"
    first: str = ""
    second: str = ""
    count: str = "3"
    amount: str = "10"
    unit: str = "min"
    by: str = ""
    expired: bool = False

    @classmethod
    def of(cls, form: Form) -> Builder:
        shape: Shape = next((one for one in get_args(Shape) if one == form.one("shape")), "before")
        unit = form.one("unit") if form.one("unit") in UNITS else "min"
        given = form.one("count") or "3", form.one("amount") or "10", unit, form.one("by")
        return cls(shape, form.one("first"), form.one("second"), *given, form.has("expired"))

    def text(self) -> str:
        """For the parser to judge: it contains the typed text unchanged."""
        first, second = self.first.strip() or _A, self.second.strip() or _B
        frame = f"within {self.amount.strip()} {self.unit}"
        match self.shape:
            case "before" | "unless":
                text = f"[{first}] {self.shape} [{second}] {frame}"
            case "times":
                text = f"times([{first}], {self.count.strip()}) {frame}"
            case "absent":
                text = f"absent([{first}]) {frame}"
        by = self.by.strip()
        if by:
            bare = NAME.fullmatch(by) and by.lower() not in KEYWORDS
            text += f" by {by if bare else quoted(by)}"
        return f"{text} report expired" if self.expired and self.shape in ("before", "times") else text
