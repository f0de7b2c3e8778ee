"""What `tidings outbox --json` says to its supervisor."""

import asyncio
import json
from pathlib import Path

import pytest

from tests.services.sqlite import new_store
from tidings.cli.store.outbox import report
from tidings.notifying.outbox.outbox import Outbox
from tidings.store import Store


def test_its_lines_say_whether_it_has_the_lease(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    async def through(outbox: Outbox) -> None:
        report(outbox)
        await outbox.turn()
        report(outbox)
        await outbox.close()

    with Store.open(new_store(tmp_path / "tidings.db")) as store:
        asyncio.run(through(Outbox(store, {})))
    assert [json.loads(line)["leading"] for line in capsys.readouterr().out.splitlines()] == [False, True]
