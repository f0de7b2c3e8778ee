"""The wheel alone, without any extra, does what Spark's workers do."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.services.wheel import ROOT, installed_wheel, run

pytestmark = pytest.mark.slow


def test_the_core_matches_on_spark_and_says_what_serve_needs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    venv = installed_wheel(tmp_path)
    for name in ("PYTHONPATH", "PYSPARK_PYTHON"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(ROOT)
    tidings, data = str(venv / "bin" / "tidings"), str(tmp_path / "data")
    examples = [f"--{part}=examples/{part}.jsonl" for part in ("subscriptions", "events")]
    run(tidings, "journal", "load", "--data", data, "--schema", "examples/schema.json", *examples)
    run(tidings, "pipeline", "--data", data, "--once")
    assert run(tidings, "replay", "--data", data, "--check") == ""
    where = run(str(venv / "bin" / "python"), "-c", "import tidings.spark; print(tidings.spark.__file__)")
    assert Path(where.strip()).is_relative_to(venv), "not the one of this tree"
    listed = run(str(venv / "bin" / "pip"), "list", "--format=freeze").lower()
    assert not any(f"{name}==" in listed for name in ("fastapi", "apprise", "uvicorn", "jinja2", "psycopg"))
    with pytest.raises(AssertionError, match=r"pip install 'tidings\[service\]'"):
        run(tidings, "serve", "--data", data)
    assert os.environ.get("PYSPARK_PYTHON") is None
