"""The scripts under examples/library run and find what they say they find: they assert it themselves."""

import runpy
import warnings
from pathlib import Path
from typing import Any

import pytest

from tests.docs.pages import ROOT, rows

FOLDER = ROOT / "examples" / "library"
SCRIPTS = sorted(FOLDER.glob("*.py"))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_script(script: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.chdir(tmp_path)
    with warnings.catch_warnings():
        runpy.run_path(str(script), run_name="__main__")
    assert capsys.readouterr().out
    assert list(tmp_path.iterdir()) == []
    assert "assert " in script.read_text(encoding="utf-8")


def test_the_gallery_lists_them_all() -> None:
    listed = [row[0] for row in rows("docs/gallery.md", "script")]
    assert sorted(listed) == [f"[`{path.name}`](../examples/library/{path.name})" for path in SCRIPTS]
