"""The supervisor with small programs in the pipeline's place: real processes, no Spark."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.services.sqlite import new_store
from tidings.pipeline.folder import DataFolder
from tidings.service.workers import supervisor as supervising
from tidings.service.workers.child_output import last_words
from tidings.service.workers.children import outbox_child, outbox_command, pipeline_child, pipeline_command
from tidings.service.workers.status import ChildStatus
from tidings.service.workers.supervisor import Failures, Supervisor
from tidings.settings import Settings
from tidings.store import Store

# Looks as a pipeline does and stops as it does.
GOOD = """
import signal, sys, time
signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
print('a line of Spark')
while True:
    print('{"tail": 7, "committed": 7, "lag": 0}', flush=True)
    time.sleep(0.02)
"""
FAILING = """
import sys
sys.stderr.write('some warning\\nerror: the batch cannot be matched\\n')
sys.exit(1)
"""
FAILING_BEHIND = """
import sys
print('{"lag": 3}', flush=True)
sys.stderr.write('error: the batch cannot be matched\\n')
sys.exit(1)
"""
STUBBORN = """
import signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
while True:
    print('{"lag": 1}', flush=True)
    time.sleep(0.02)
"""
WITHOUT_LEASE = """
import time
while True:
    print('{"leading": false, "lag": 0}', flush=True)
    time.sleep(0.02)
"""


class Told:
    """What the supervisor said, in order."""

    def __init__(self) -> None:
        self.all: list[ChildStatus] = []
        self._news = threading.Condition()

    def __call__(self, status: ChildStatus) -> None:
        with self._news:
            self.all.append(status)
            self._news.notify_all()

    def wait(self, wanted: Callable[[ChildStatus], bool]) -> ChildStatus:
        """The newest, as soon as it is like this."""
        with self._news:
            assert self._news.wait_for(lambda: bool(self.all) and wanted(self.all[-1]), 60), self.all
            return self.all[-1]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(new_store(tmp_path / "tidings.db")) as store:
        yield store


@pytest.fixture
def told() -> Told:
    return Told()


@pytest.fixture
def supervised(tmp_path: Path, store: Store, told: Told) -> Iterator[Callable[[str], Supervisor]]:
    made: list[Supervisor] = []

    def start(program: str) -> Supervisor:
        supervisor = Supervisor(pipeline_child(Settings(data=tmp_path), store, [sys.executable, "-c", program]), told)
        made.append(supervisor)
        supervisor.start()
        return supervisor

    yield start
    for supervisor in made:
        supervisor.kill()
        supervisor.stop()


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervising, "_FIRST_PAUSE", 0.01)
    monkeypatch.setattr(supervising, "_PAUSE_WHEN_FAILED", 0.1)


def test_it_runs_and_is_stopped(supervised: Callable[[str], Supervisor], told: Told) -> None:
    supervisor = supervised(GOOD)
    running = told.wait(lambda status: status.state == "running")
    assert running.lag == 0
    assert running.process is not None
    os.kill(running.process, 0)
    supervisor.stop()
    assert [status.state for status in told.all] == ["starting", "starting", "running", "stopped"]
    with pytest.raises(ProcessLookupError):
        os.kill(running.process, 0)


def test_one_without_its_lease(supervised: Callable[[str], Supervisor], told: Told) -> None:
    supervised(WITHOUT_LEASE)
    assert told.wait(lambda status: status.state == "running").leads is False


def test_an_unchanged_status_is_repeated(
    supervised: Callable[[str], Supervisor], told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is a heartbeat: one that is not heard for long hangs."""
    monkeypatch.setattr(supervising, "_HEARD_EVERY", 0.02)
    supervised(GOOD)
    first = told.wait(lambda status: status.state == "running")
    assert told.wait(lambda status: status.heard > first.heard) == first


def test_one_that_was_never_started_can_be_stopped(tmp_path: Path, store: Store, told: Told) -> None:
    supervisor = Supervisor(pipeline_child(Settings(data=tmp_path), store), told)
    supervisor.kill()
    supervisor.stop()
    assert told.all == []


def test_one_that_was_killed_is_started_again(supervised: Callable[[str], Supervisor], told: Told) -> None:
    supervised(GOOD)
    first = told.wait(lambda status: status.state == "running").process
    assert first is not None
    os.kill(first, signal.SIGKILL)
    again = told.wait(lambda status: status.state == "running" and status.process != first)
    assert again.restarts == 1
    waiting = next(status for status in told.all if status.state == "waiting")
    assert waiting.reason.startswith("ended by SIGKILL")


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("program", [FAILING, FAILING_BEHIND])
def test_after_five_failures_on_one_batch_it_has_failed_and_is_retried(
    supervised: Callable[[str], Supervisor], told: Told, program: str
) -> None:
    supervisor = supervised(program)
    failed = told.wait(lambda status: status.state == "failed" and status.process is None)
    assert failed.reason.startswith("failed 5 times on one batch, retried every ")
    assert "ended with code 1: error: the batch cannot be matched" in failed.reason
    assert "some warning" not in failed.reason
    assert failed.restarts == 5
    told.wait(lambda status: status.reason.startswith("failed 8 times on one batch"))
    states = [status.state for status in told.all]
    assert set(states[states.index("failed") :]) == {"failed"}  # a retry does not hide that it fails
    supervisor.stop()
    assert told.all[-1].state == "failed"  # the reason stays to be seen


@pytest.mark.usefixtures("impatient")
def test_one_that_failed_recovers_when_the_cause_is_gone(
    supervised: Callable[[str], Supervisor], told: Told, tmp_path: Path
) -> None:
    program = f"""
import pathlib, sys, time
if not pathlib.Path({str(tmp_path / "mended")!r}).exists():
    print('{{"lag": 3}}', flush=True)
    sys.stderr.write('error: the disk is full\\n')
    sys.exit(1)
while True:
    print('{{"lag": 0}}', flush=True)
    time.sleep(0.02)
"""
    supervised(program)
    told.wait(lambda status: status.state == "failed")
    (tmp_path / "mended").touch()
    running = told.wait(lambda status: status.state == "running")
    assert running.reason == ""
    assert running.process is not None


@pytest.mark.usefixtures("impatient")
def test_one_that_had_nothing_left_to_do_is_started_ever_again(
    supervised: Callable[[str], Supervisor], told: Told
) -> None:
    supervised("print('{\"lag\": 0}', flush=True)")
    told.wait(lambda status: status.restarts >= 7)
    assert all(status.state != "failed" for status in told.all)


def test_the_pause_doubles_up_to_a_minute_and_begins_anew_after_a_good_run() -> None:
    failures, pauses = Failures(), []
    for _ in range(9):
        failures.add(None, caught_up=False)
        pauses.append(failures.pause)
        assert not failures.persistent
    assert pauses == [1, 2, 4, 8, 16, 32, 60, 60, 60]
    failures.add(9, caught_up=True)
    assert failures.pause == 1


def test_one_that_gets_on_does_not_wait_longer_each_time() -> None:
    failures = Failures()
    for progress in range(9):
        failures.add(progress, caught_up=False)
        assert failures.pause == 1
        assert not failures.persistent


def test_five_failures_at_one_position_are_persistent_until_the_position_moves() -> None:
    failures = Failures()
    for _ in range(4):
        failures.add(7, caught_up=False)
        assert not failures.persistent
    failures.add(7, caught_up=False)
    assert failures.persistent
    assert failures.pause == 180
    assert not failures.recovered(7, caught_up=False)
    assert not failures.recovered(None, caught_up=False)
    assert failures.recovered(7, caught_up=True)
    assert failures.recovered(8, caught_up=False)
    failures.add(8, caught_up=False)
    assert not failures.persistent
    assert failures.pause == 1


def test_a_store_that_cannot_be_asked_is_not_the_batch_s_fault() -> None:
    failures = Failures()
    for _ in range(20):
        failures.add(None, caught_up=False)
    assert not failures.persistent
    assert failures.pause == 60


@pytest.mark.usefixtures("impatient")
def test_without_java_it_fails_says_so_and_starts_once_java_is_there(
    supervised: Callable[[str], Supervisor], told: Told, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with monkeypatch.context() as without_java:
        without_java.setenv("JAVA_HOME", str(tmp_path))
        supervised(GOOD)
        failed = told.wait(lambda status: status.state == "failed")
        assert "Spark needs Java" in failed.reason
    told.wait(lambda status: status.state == "running")


def test_it_waits_for_a_folder_that_is_in_use(
    supervised: Callable[[str], Supervisor], told: Told, tmp_path: Path
) -> None:
    folder = DataFolder(tmp_path)
    folder.lock()
    try:
        supervised(GOOD)
        waiting = told.wait(lambda status: status.state == "waiting")
        assert f"process {os.getpid()}" in waiting.reason
    finally:
        folder.unlock()
    assert told.wait(lambda status: status.state == "running").restarts == 0


def test_a_stop_while_it_waits(supervised: Callable[[str], Supervisor], told: Told, tmp_path: Path) -> None:
    folder = DataFolder(tmp_path)
    folder.lock()
    try:
        supervisor = supervised(GOOD)
        told.wait(lambda status: status.state == "waiting")
        supervisor.stop()
    finally:
        folder.unlock()
    assert told.all[-1].state == "stopped"


def test_one_that_does_not_stop_is_killed_with_its_group(supervised: Callable[[str], Supervisor], told: Told) -> None:
    supervisor = supervised(STUBBORN)
    process = told.wait(lambda status: status.state == "running").process
    assert process is not None
    supervisor.stop(patience=0.2)
    with pytest.raises(ProcessLookupError):
        os.killpg(process, 0)


def test_a_large_log_is_set_aside(supervised: Callable[[str], Supervisor], told: Told, tmp_path: Path) -> None:
    with (tmp_path / "pipeline.log").open("wb") as log:
        log.truncate(supervising._LARGE_LOG + 1)
    supervised(GOOD)
    told.wait(lambda status: status.state == "running")
    assert (tmp_path / "pipeline.log.1").stat().st_size > supervising._LARGE_LOG
    assert (tmp_path / "pipeline.log").stat().st_size == 0


def test_last_words(tmp_path: Path) -> None:
    log = tmp_path / "pipeline.log"
    log.write_text("2026-05-01T10:00:00.000Z ERROR   pipeline: of an earlier run\n")
    start = log.stat().st_size
    assert last_words(log, start) == "it left no message"
    with log.open("a") as file:
        file.write("first\nlast\n\n")
    assert last_words(log, start) == "last"
    assert last_words(log, 0) == "of an earlier run"


def test_a_password_is_not_in_the_command(tmp_path: Path) -> None:
    command = pipeline_command(Settings(data=tmp_path, store="postgresql://me:secret@somewhere/tidings"))
    assert "secret" not in " ".join(command)
    assert "--while-stdin" in command


def test_the_child_gets_the_store_by_its_environment(tmp_path: Path, store: Store, told: Told) -> None:
    program = "import os, sys; sys.stderr.write('error: ' + os.environ['TIDINGS_STORE']); sys.exit(1)"
    settings = Settings(data=tmp_path, store="postgresql://somewhere/tidings")
    supervisor = Supervisor(pipeline_child(settings, store, [sys.executable, "-c", program]), told)
    supervisor.start()
    waiting = told.wait(lambda status: status.state == "waiting")
    supervisor.stop()
    assert waiting.reason == "ended with code 1: error: postgresql://somewhere/tidings"


@pytest.mark.usefixtures("impatient")
def test_an_outbox_that_never_sends_has_failed_too(tmp_path: Path, store: Store, told: Told) -> None:
    supervisor = Supervisor(outbox_child(Settings(data=tmp_path), store, [sys.executable, "-c", FAILING]), told)
    supervisor.start()
    failed = told.wait(lambda status: status.state == "failed")
    supervisor.stop()
    assert failed.reason.startswith("failed 5 times without sending anything")
    assert "error: the batch cannot be matched" in (tmp_path / "outbox.log").read_text()


def test_the_outbox_gets_all_settings_by_its_environment(tmp_path: Path, store: Store, told: Told) -> None:
    settings = Settings(data=tmp_path, store="postgresql://me:secret@somewhere/tidings", smtp_password="secret too")
    assert "secret" not in " ".join(outbox_command())
    assert "secret" not in repr(outbox_child(settings, store))
    program = "import os, sys; sys.stderr.write('error: ' + os.environ['TIDINGS_SMTP_PASSWORD']); sys.exit(1)"
    supervisor = Supervisor(outbox_child(settings, store, [sys.executable, "-c", program]), told)
    supervisor.start()
    waiting = told.wait(lambda status: status.state == "waiting")
    supervisor.stop()
    assert waiting.reason == "ended with code 1: error: secret too"


def test_a_program_whose_parent_was_killed_stops_by_itself(tmp_path: Path) -> None:
    """What --while-stdin does, in a process that a watchdog must end."""
    program = """
import sys, threading, time
from tidings.pipeline.parent import stop_with_parent
stopped = threading.Event()
stop_with_parent(stopped, patience=float(sys.argv[1]))
sys.stderr.write('ready\\n')
stopped.wait()
if sys.argv[2] == 'stubborn':
    time.sleep(600)
"""
    for patience, manner, code in (("60", "gentle", 0), ("0.2", "stubborn", 1)):
        command = [sys.executable, "-c", program, patience, manner]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child:
            assert child.stderr is not None
            assert child.stdin is not None
            assert child.stderr.readline() == "ready\n"
            time.sleep(0.05)
            assert child.poll() is None
            child.stdin.close()
            said = child.stderr.read()
            assert child.wait() == code
            assert ("time.sleep" in said or "Timeout" in said) == (manner == "stubborn")
