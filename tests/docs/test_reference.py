"""What is generated is fresh, and what it says is so."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import fields

import pytest

from tests.docs.pages import ROOT, code, rows
from tidings.language.normal_form import MOST_CONJUNCTIONS, MOST_PREDICATES
from tidings.language.parser import DEEPEST
from tidings.language.tokens import LONGEST_FILTER
from tidings.settings import Settings

UNITS = {"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}


@pytest.mark.slow  # `make check` does the same
def test_the_pages_are_fresh() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "reference"), "--check"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def number(text: str) -> int:
    """`16 MiB`, `20,000`."""
    digits, _, unit = text.replace(",", "").partition(" ")
    return int(digits) * UNITS.get(unit, 1)


def limits() -> dict[str, int]:
    """As the README tells them, two in a row."""
    found: dict[str, int] = {}
    for row in rows("README.md", "limit"):
        for names, values in ((row[0], row[1]), (row[3], row[4])):
            parts = re.split(r", (?=\S)", values) if ", " in names else [values]
            found |= {name.strip("`"): number(value) for name, value in zip(names.split(", "), parts, strict=True)}
    return found


def test_the_readmes_limits_are_those_of_the_settings() -> None:
    told = limits()
    assert len(told) == 10
    for name, value in told.items():
        assert getattr(Settings(), name) == value, name


def test_limits_of_filters() -> None:
    told = {row[0]: row[1] for row in rows("docs/language.md", "what")}
    assert number(told["length of a filter"].removesuffix(" characters")) == LONGEST_FILTER
    assert number(told["nested parentheses and `not`"]) == DEEPEST
    assert number(told["conjunctions, when written out as alternatives"]) == MOST_CONJUNCTIONS
    assert number(told["predicates, in all those conjunctions together"]) == MOST_PREDICATES
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert f"{LONGEST_FILTER:,} characters and {MOST_CONJUNCTIONS:,} alternatives" in readme


def test_every_setting_with_its_variable() -> None:
    listed = {code(row[0]): code(row[1]) for row in rows("docs/reference/settings.md", "TOML key")}
    assert listed == {one.name: f"TIDINGS_{one.name.upper()}" for one in fields(Settings)}
