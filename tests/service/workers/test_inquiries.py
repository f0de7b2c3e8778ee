"""The processes that answer questions: they answer, are bounded, are replaced, and end with the service."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.service.workers import strange_questions as strange
from tests.services.sqlite import new_store
from tests.services.warm_worker import start_forked
from tests.store.samples import publish, with_schema
from tidings.errors import TidingsError
from tidings.service.workers import questions
from tidings.service.workers.inquiries import Busy, Inquiries, NoAnswer, TookTooLong, start_worker
from tidings.store import Store


@pytest.fixture
def url(tmp_path: Path) -> Iterator[str]:
    with Store.open(new_store(tmp_path / "tidings.db")) as store:
        with_schema(store)
        store.append([publish(f"e{number}", number) for number in range(10)])
        yield store.url


def run(url: str, body: Callable[[Inquiries], Awaitable[None]], start: Any = start_forked, **options: float) -> None:
    async def whole() -> None:
        inquiries = Inquiries(url, start=start, **options)  # type: ignore[arg-type]
        try:
            await body(inquiries)
        finally:
            await inquiries.close()

    asyncio.run(whole())


def is_running(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def ended(process: int) -> bool:
    until = time.monotonic() + 60
    while is_running(process) and time.monotonic() < until:
        time.sleep(0.02)
    return not is_running(process)


def test_it_answers(url: str) -> None:
    async def body(inquiries: Inquiries) -> None:
        found = await inquiries.ask("ann", questions.search, "price > 6", 0, 100, 10)
        assert [event.position for event in found.events] == [13, 14, 15]
        data = os.urandom(3_000_000)
        assert await inquiries.ask("ann", strange.echo, data) == data

    run(url, body, start_worker)


def test_the_service_itself_never_loads_the_matchers(url: str) -> None:
    program = f"""
import asyncio, sys
from tests.service.workers import strange_questions
from tidings.service.workers import questions
from tidings.service.workers.inquiries import Inquiries

async def main():
    inquiries = Inquiries({url!r})
    await inquiries.ask("ann", questions.search, "price > 6", 0, 100, 10)
    there = [await inquiries.ask("ann", strange_questions.loaded, name) for name in ("numba", "pyspark")]
    await inquiries.close()
    print(there, [name for name in ("numba", "pyspark", "pandas", "tidings.matching") if name in sys.modules])

asyncio.run(main())
"""
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert said.strip() == "[True, False] []"


def test_no_process_before_the_first_question_and_one_while_they_come_one_by_one(url: str) -> None:
    async def body(inquiries: Inquiries) -> None:
        assert inquiries.processes == []
        first = await inquiries.ask("ann", strange.process)
        assert await inquiries.ask("ann", strange.process) == first
        assert inquiries.processes == [first]

    run(url, body)


def test_errors_come_back_with_their_parts(url: str) -> None:
    async def body(inquiries: Inquiries) -> None:
        with pytest.raises(strange.Strange) as refused:
            await inquiries.ask("ann", strange.refusing)
        assert refused.value.args == ("part", 7)

    run(url, body)


def test_defects_and_prints_do_not_end_it(url: str, capfd: pytest.CaptureFixture[str]) -> None:
    async def body(inquiries: Inquiries) -> None:
        first = await inquiries.ask("ann", strange.process)
        for question in (strange.failing, strange.unfit_answer):
            with pytest.raises(NoAnswer):
                await inquiries.ask("ann", question)
        assert await inquiries.ask("ann", strange.printing) == "printed"
        assert await inquiries.ask("ann", strange.process) == first

    run(url, body)
    assert "ValueError: a defect" in capfd.readouterr().err


def test_one_that_dies_is_replaced(url: str) -> None:
    async def body(inquiries: Inquiries) -> None:
        first = await inquiries.ask("ann", strange.process)
        with pytest.raises(NoAnswer):
            await inquiries.ask("ann", strange.dying)
        second = await inquiries.ask("ann", strange.process)
        assert second != first
        os.kill(second, signal.SIGKILL)
        while inquiries.processes:
            await asyncio.sleep(0.02)
        assert await inquiries.ask("ann", strange.process) not in (first, second)

    run(url, body, start_worker)


def test_one_that_takes_too_long_is_replaced(url: str) -> None:
    async def body(inquiries: Inquiries) -> None:
        first = await inquiries.ask("ann", strange.process)
        with pytest.raises(TookTooLong, match=r"within 1 s"):
            await inquiries.ask("ann", strange.sleeping, 600.0)
        assert ended(first)
        with pytest.raises(TookTooLong, match=r"within 1 s"):  # only the first process ever may compile
            await inquiries.ask("ann", strange.sleeping, 5.0)
        assert await inquiries.ask("ann", strange.process) != first

    run(url, body, seconds=1.0, first_seconds=60.0)


def test_too_many_are_sent_away(url: str) -> None:
    async def body(inquiries: Inquiries) -> None:
        waiting = [asyncio.ensure_future(inquiries.ask("ann", strange.sleeping, 0.1)) for _ in range(8)]
        await asyncio.sleep(0)
        with pytest.raises(Busy):
            await inquiries.ask("ann", strange.process)
        waiting += [asyncio.ensure_future(inquiries.ask(f"b{n}", strange.sleeping, 0.0)) for n in range(26)]
        await asyncio.sleep(0)
        with pytest.raises(Busy):
            await inquiries.ask("carl", strange.process)
        assert await asyncio.gather(*waiting) == ["slept"] * 34
        assert await inquiries.ask("ann", strange.echo, b"again") == b"again"

    run(url, body)


def test_whoever_goes_away_still_counts_until_the_work_is_done(url: str) -> None:
    async def body(inquiries: Inquiries) -> None:
        gone = asyncio.ensure_future(inquiries.ask("ann", strange.failing))
        await asyncio.sleep(0)
        gone.cancel()
        with pytest.raises(asyncio.CancelledError):
            await gone
        assert await inquiries.ask("ann", strange.echo, b"here") == b"here"

    run(url, body, processes=1)


def test_closing_ends_what_is_under_way(url: str) -> None:
    async def body() -> None:
        inquiries = Inquiries(url)
        process = await inquiries.ask("ann", strange.process)
        asked = asyncio.ensure_future(inquiries.ask("ann", strange.sleeping, 600.0))
        await asyncio.sleep(0.1)
        await inquiries.close()
        with pytest.raises(NoAnswer):
            await asked
        assert ended(process)

    asyncio.run(body())


def test_none_is_left_where_the_service_was_killed(url: str) -> None:
    program = f"""
import asyncio
from tests.service.workers import strange_questions
from tidings.service.workers.inquiries import Inquiries

async def main():
    inquiries = Inquiries({url!r}, processes=1)
    print(await inquiries.ask("ann", strange_questions.process), flush=True)
    await inquiries.ask("ann", strange_questions.sleeping, 600.0)

asyncio.run(main())
"""
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as service:
        assert service.stdout is not None
        process = int(service.stdout.readline())
        assert is_running(process)
        service.kill()
    assert ended(process)


def test_a_store_that_cannot_be_opened_is_told(tmp_path: Path) -> None:
    async def body(inquiries: Inquiries) -> None:
        with pytest.raises(TidingsError, match="no folder"):
            await inquiries.ask("ann", strange.process)

    run(f"sqlite:///{tmp_path}/none/tidings.db", body)
