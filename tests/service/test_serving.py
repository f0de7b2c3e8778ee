"""`tidings serve` as a process, without its pipeline: starts, answers, stops, and what it refuses."""

from __future__ import annotations

import os
import signal
import socket
import stat
import subprocess
import sys
import threading
from pathlib import Path
from typing import IO

import pytest
from sqlalchemy import update

from tests.service.numbers import register
from tests.service.served import Served
from tests.store.test_retention import wait_until
from tests.test_import import loaded_by
from tidings.pipeline.folder import locked
from tidings.schema import Instant
from tidings.service.door.callers import digest_of
from tidings.service.listening import CannotListen, PortTaken
from tidings.service.service import AlreadyServed
from tidings.settings import SCOPES
from tidings.store import DeadLetter, Store
from tidings.store.tables import about


def refused(data: Path, *options: str, **environment: str) -> str:
    """What a `serve` says that does not start."""
    command = [sys.executable, "-m", "tidings.cli.main", "serve", "--data", str(data), "--no-pipeline", *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=os.environ | environment)
    assert done.returncode == 1, done
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    return done.stderr


def test_it_starts_answers_and_stops(tmp_path: Path) -> None:
    data = tmp_path / "some" / "data"
    with Served(data, "--no-pipeline") as served:
        assert served.ask("GET", "/healthz")[0] == 200
        status, ready = served.ask("GET", "/readyz")
        assert (status, ready["pipeline"]["state"]) == (200, "elsewhere")
        socket.create_connection(("127.0.0.1", served.xml_port), 10).close()
        assert str(data) in served.lines[0]
        assert served.stop() == 0
        assert served.errors == ""
    assert stat.S_IMODE(data.stat().st_mode) == 0o700
    with Store.open(data / "tidings.db") as store:
        assert store.tail() == 0


def test_other_versions_of_what_cuts_texts_are_told(tmp_path: Path) -> None:
    with Store.open(tmp_path / "tidings.db") as store, store.database.writing() as connection:
        connection.execute(update(about).values(text_versions="Unicode 9.0.0, PyStemmer 1.0"))
    with Served(tmp_path, "--no-pipeline") as served:
        served.stop()
    assert "the texts of this store were cut and stemmed by Unicode 9.0.0, PyStemmer 1.0, and from now" in served.errors


def test_without_a_pipeline_retention_runs_here(tmp_path: Path) -> None:
    with Store.open(tmp_path / "tidings.db", lambda: Instant(0)) as store:
        store.bury([DeadLetter("file", "1", None, "{", ())])
    with Served(tmp_path, "--no-pipeline"), Store.open(tmp_path / "tidings.db") as store:
        wait_until(lambda: store.dead_letters() == [])


def test_ctrl_c_stops_it_too(tmp_path: Path) -> None:
    with Served(tmp_path, "--no-pipeline") as served:
        assert served.stop(signal.SIGINT) == 0


def test_a_second_signal_ends_it_at_once(tmp_path: Path) -> None:
    with (
        Served(tmp_path, "--no-pipeline") as served,
        socket.create_connection(("127.0.0.1", served.port), 10) as unfinished,
    ):
        unfinished.sendall(b"POST /v1/tokens HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{")
        served.ask("GET", "/healthz")  # the other request has come in by now
        served.process.send_signal(signal.SIGTERM)
        while accepts(served.port):
            pass
        assert served.process.poll() is None  # it waits for the request under way
        assert served.stop(signal.SIGINT) == 128 + signal.SIGINT


def accepts(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), 10).close()
    except ConnectionError:  # refused, or reset where it was still waiting to be accepted
        return False
    return True


def test_a_request_under_way_is_finished(tmp_path: Path) -> None:
    body = b'{"username": "ann", "password": "correct horse battery staple"}'
    with Served(tmp_path, "--no-pipeline") as served:
        with socket.create_connection(("127.0.0.1", served.port), 60) as slow:
            head = (
                b"POST /v1/accounts HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
            )
            slow.sendall(head % len(body) + body[:5])
            served.ask("GET", "/healthz")
            served.process.send_signal(signal.SIGTERM)
            while accepts(served.port):
                pass
            slow.sendall(body[5:])
            answer = slow.recv(100_000)
        assert served.wait() == 0
    assert answer.startswith(b"HTTP/1.1 201")
    with Store.open(tmp_path / "tidings.db") as store:
        assert store.account("ann") is not None


def test_who_waits_for_notifications_is_answered_when_it_stops(tmp_path: Path) -> None:
    with Served(tmp_path, "--no-pipeline") as served:
        token = register(served, "ann")
        answers: list[tuple[int, dict[str, object]]] = []
        waiting = threading.Thread(
            target=lambda: answers.append(served.ask("GET", "/v1/notifications?wait=30", token=token))
        )
        waiting.start()
        waiting.join(0.5)
        assert waiting.is_alive()  # it has come in, and there is nothing to tell
        assert served.stop() == 0
        waiting.join()
        assert served.errors == ""  # nobody's request was broken off
    assert answers == [(200, {"items": [], "next": "0"})]


def test_the_operator_s_token_is_shown_once(tmp_path: Path) -> None:
    with Served(tmp_path, "--no-pipeline") as first:
        first.stop()
    (line,) = [line for line in first.lines if "tid_" in line]
    token = line.split()[-1]
    with Store.open(tmp_path / "tidings.db") as store:
        kept = store.token(digest_of(token))
    assert kept is not None
    assert kept.scopes == frozenset(SCOPES)
    with Served(tmp_path, "--no-pipeline") as second:
        second.stop()
    assert len(second.lines) == 1
    assert "tid_" not in second.lines[0]


def test_a_port_that_is_taken(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        said = refused(tmp_path, "--port", str(port), "--xml-port", "0")
        assert f"port {port} of 127.0.0.1 is in use" in said
        assert "choose another with --port or TIDINGS_PORT" in said
        said = refused(tmp_path, "--port", "0", "--xml-port", str(port))
        assert f"port {port} of 127.0.0.1 is in use" in said
        assert "choose another with --xml-port or TIDINGS_XML_PORT" in said


def test_an_address_that_is_not_ours(tmp_path: Path) -> None:
    said = refused(tmp_path, "--host", "192.0.2.1", "--port", "0")  # an address of documents, nobody's
    assert "cannot listen at 192.0.2.1" in said
    assert "--host" in said


def test_a_second_service_on_the_same_folder(tmp_path: Path) -> None:
    with Served(tmp_path, "--no-pipeline") as served:
        said = refused(tmp_path, "--port", "0", "--xml-port", "0")
        assert f"(process {served.process.pid})" in said
        assert "--data" in said
        assert served.ask("GET", "/healthz")[0] == 200


def test_a_folder_is_free_again_when_its_service_was_killed(tmp_path: Path) -> None:
    with Served(tmp_path, "--no-pipeline") as served:
        served.kill()
        served.wait()
    with Served(tmp_path, "--no-pipeline") as served:
        assert served.stop() == 0


def test_sqlite_is_refused_with_a_cluster(tmp_path: Path) -> None:
    said = refused(tmp_path / "data", "--pipeline", "--spark-master", "spark://127.0.0.1:1")
    assert "PostgreSQL" in said
    assert not (tmp_path / "data").exists()


def test_wrong_settings_are_told(tmp_path: Path) -> None:
    file = tmp_path / "tidings.toml"
    file.write_text("prot = 1\n")
    assert "did you mean 'port'?" in refused(tmp_path, "--settings", str(file))
    assert "'guets' is not a setting; did you mean 'guests'?" in refused(tmp_path, TIDINGS_GUETS="1")


def test_settings_reach_the_service(tmp_path: Path) -> None:
    file = tmp_path / "tidings.toml"
    file.write_text("registration = false\npipeline = false\n")
    with Served(tmp_path, "--settings", str(file)) as served:
        assert served.pipeline()["state"] == "elsewhere"
        account = {"username": "ann", "password": "correct horse battery staple"}
        assert served.ask("POST", "/v1/accounts", account)[0] == 403


def test_without_java_the_gateway_goes_on(tmp_path: Path) -> None:
    with Served(tmp_path, JAVA_HOME=str(tmp_path)) as served:
        while (answer := served.ask("GET", "/readyz"))[0] == 200:
            assert answer[1]["pipeline"]["state"] == "starting"
        assert "Spark needs Java" in str(answer[1])
        assert served.ask("GET", "/healthz")[0] == 200
        assert served.stop() == 0
    assert any(line.startswith("pipeline: Spark needs Java") for line in served.lines)


def test_it_starts_without_what_it_needs_later() -> None:
    """A second from the start to the first answer leaves no time for these."""
    heavy = {"alembic", "numba", "numpy", "pandas", "pyarrow", "pyspark"}
    assert loaded_by("import tidings.cli.main, tidings.service.service").isdisjoint(heavy)


def test_errors_keep_their_parts() -> None:
    assert "process 7" in str(AlreadyServed("data", "7"))
    assert PortTaken("127.0.0.1", 80, "--port").args == ("127.0.0.1", 80, "--port")
    assert "--port" in str(CannotListen("127.0.0.1", 80, "--port", "Permission denied"))


def test_a_lock_names_its_holder(tmp_path: Path) -> None:
    def lock() -> IO[str]:
        return locked(tmp_path / "serve.lock", lambda holder: AlreadyServed("data", holder))

    with lock(), pytest.raises(AlreadyServed, match=f"process {os.getpid()}"):
        lock()
    lock().close()
