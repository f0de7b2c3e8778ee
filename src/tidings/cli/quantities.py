"""Amounts as people write them: 512MB, 30d."""

from __future__ import annotations

import re

import typer

_BYTES = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}


def bytes_of(text: str, option: str) -> int:
    """`512MB`, `10 GB`, `1.5GB`, or a plain number of bytes."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?) ?([A-Za-z]*)", text.strip())
    if found is None or found[2].upper() not in _BYTES:
        raise typer.BadParameter(f"{text!r} is not a size; expected e.g. 512MB or 10GB", param_hint=option)
    return int(float(found[1]) * _BYTES[found[2].upper()])
