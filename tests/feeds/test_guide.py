"""docs/feeds.md says all there is to say, and what it says is so."""

import re
import tomllib
from pathlib import Path

import pytest

from tests.feeds.conftest import EXAMPLES
from tests.service.conftest import Service
from tidings.client import Client
from tidings.feeds.mapping.mapping_file import FIELD_KEYS, KEYS, mapping_of

PAGE = (EXAMPLES.parents[1] / "docs" / "feeds.md").read_text(encoding="utf-8")


def keys(heading: str) -> set[str]:
    """All that the first column of a table names."""
    rows = PAGE.partition(f"| {heading} | |\n")[2].partition("\n\n")[0].splitlines()[1:]
    return {name for row in rows for name in re.findall(r"`(\w+)`", row.split("|")[1])}


def test_every_key_is_told() -> None:
    assert keys("key") == set(KEYS)
    assert keys("key of a field") == set(FIELD_KEYS)


def test_the_mappings_shown_are_some() -> None:
    blocks = re.findall(r"^```toml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    assert [len(mapping_of(tomllib.loads(block), "f", Path()).fields) for block in blocks] == [4, 2]


def test_the_program_runs(service: Service, ann: Client, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "d.csv").write_text("b,y\nmini,1990\n")
    path = tmp_path / "m.toml"
    path.write_text('file = "d.csv"\nevent_type = "car"\n[fields]\nbrand = "b"\nyear = "y"\n')
    (block,) = re.findall(r"^```py\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    exec(block.replace("http://127.0.0.1:8080", service.address), {"token": ann.token, "path": path})
    assert capsys.readouterr().out.startswith("1\nCounters(looks=1, records=1, published=1")
