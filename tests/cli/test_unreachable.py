"""Commands that find no server, or are not told of one."""

import json
import socket
from pathlib import Path

import pytest

from tests.cli.conftest import CAR, Tidings
from tidings.cli.server.server import save_token, saved_token


@pytest.fixture
def nobody() -> str:
    """An address at which nobody listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{probe.getsockname()[1]}"


@pytest.mark.parametrize(
    "command",
    [
        ["publish", json.dumps(CAR)],
        ["publish", "events.jsonl"],
        ["subscribe", "year > 1"],
        ["unsubscribe", "s-1"],
        ["edit", "s-1", "--expiry", "never"],
        ["pause", "s-1"],
        ["resume", "s-1"],
        ["token", "list"],
        ["token", "delete", "0123456789ab"],
        ["subscriptions"],
        ["notifications"],
        ["schema", "show"],
        ["schema", "grow", '{"change": "append_value", "domain": "brand", "value": "x"}'],
        ["query", "year > 1"],
        ["backtest", "year > 1"],
        ["explain", "year > 1", json.dumps(CAR)],
        ["simulate", "--events", "1"],
    ],
    ids=lambda command: " ".join(command[:2] if command[0] in ("schema", "token") else command[:1]),
)
def test_nobody_there_is_exit_code_3(
    command: list[str], nobody: str, tidings: Tidings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    done = tidings(*command, "--server", nobody)
    assert done.exit_code == 3
    assert nobody in done.stderr
    assert done.stdout == ""


def test_a_token_that_could_not_be_revoked_stays_saved(
    nobody: str, tidings: Tidings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    save_token(nobody, "tid_kept")
    assert tidings("logout", "--server", nobody).exit_code == 3
    assert saved_token(nobody) == "tid_kept"


def test_without_server_or_schema_it_is_usage(tidings: Tidings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TIDINGS_SERVER", raising=False)
    assert tidings("explain", "price < 1", "{}").exit_code == 2
    assert tidings("schema", "show").exit_code == 2
    assert tidings("schema", "grow", "{}").exit_code == 2
    assert tidings("query", "price < 1").exit_code == 2
