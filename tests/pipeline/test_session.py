"""What is said where Spark cannot start."""

from pathlib import Path

import pytest

from tidings.pipeline.session import NoJava, OldJava, check_java


def java(folder: Path, says: str, code: int = 0) -> str:
    (folder / "bin").mkdir(parents=True)
    program = folder / "bin" / "java"
    program.write_text(f"#!/bin/sh\necho '{says}' >&2\nexit {code}\n")
    program.chmod(0o755)
    return str(folder)


def test_no_java(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NoJava, match="apt-get install"):
        check_java()


def test_java_home_that_leads_nowhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(NoJava, match="does not run"):
        check_java()


@pytest.mark.parametrize(
    ("says", "version"),
    [('openjdk version "11.0.2" 2019-01-15', 11), ('java version "1.8.0_401"', 8), ("something else", 0)],
)
def test_old_java(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, says: str, version: int) -> None:
    monkeypatch.setenv("JAVA_HOME", java(tmp_path, says))
    with pytest.raises(OldJava, match=f"is version {version}"):
        check_java()


@pytest.mark.parametrize("says", ['openjdk version "17.0.15" 2025-04-15', 'openjdk version "21" 2023-09-19'])
def test_java_that_will_do(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, says: str) -> None:
    monkeypatch.setenv("JAVA_HOME", java(tmp_path, says))
    check_java()
