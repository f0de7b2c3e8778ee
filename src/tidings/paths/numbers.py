"""What XPath 1.0 takes for a number: an optional minus, digits and a point, blanks around it; no exponent, no plus."""

from __future__ import annotations

import re

_NUMBER = re.compile(r"[ \t\r\n]*(-?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+))[ \t\r\n]*")


def number_of(text: str) -> float | None:
    """None where XPath says NaN."""
    found = _NUMBER.fullmatch(text)
    return None if found is None else float(found[1])
