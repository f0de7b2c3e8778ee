from __future__ import annotations

import pytest

from tests.services.missing import missing, need


def test_a_machine_without_it_skips(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)
    with pytest.raises(pytest.skip.Exception, match="no such thing"):
        missing("no such thing")


def test_ci_without_it_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match=r"in CI .*apt-get install no-package"):
        need("no-such-command", "no-package")


def test_a_command_that_is_there_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")
    need("sh", "dash")
