"""docs/client.md does what it says, on a running server."""

import re
import threading
from pathlib import Path

import pytest

from tests.client.conftest import calls_of
from tests.client.matched import match_all
from tests.service.conftest import Service
from tidings.client import Client

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "client.md").read_text(encoding="utf-8")
ADDRESS = "http://127.0.0.1:8080"


def test_the_blocks_run_one_after_another(
    service: Service, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    blocks = re.findall(r"^```py\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    assert len(blocks) > 5
    monkeypatch.chdir(ROOT)
    stopped = threading.Event()

    def matching() -> None:
        while not stopped.wait(0.1):
            match_all(service.store)

    pipeline = threading.Thread(target=matching)
    pipeline.start()
    try:
        names: dict[str, object] = {}
        for block in blocks:
            exec(compile(block.replace(ADDRESS, service.address), "docs/client.md", "exec"), names)
    finally:
        stopped.set()
        pipeline.join(120)
    printed = capsys.readouterr().out
    assert "brand = 'mini' and year < 1970" in printed
    assert "did you mean 'mini'" in printed


def test_every_call_is_listed() -> None:
    listed = PAGE.partition("## All calls")[2].partition("\n## ")[0]
    assert set(re.findall(r"`(\w+)`", listed)) == calls_of(Client)
