"""`/readyz` is true: 503 with the reason in every state in which the service cannot do its work."""

import os
import signal
import time
from pathlib import Path

import pytest

from tests.service.conftest import PASSWORD, Service, car, on_sqlite
from tests.service.delivering import FILTER, deliver, find
from tests.service.networked import networked
from tests.service.served import PATIENCE, Served, descendants
from tidings.service import readiness
from tidings.service.pulse import Beat
from tidings.service.readiness import stuck_seconds
from tidings.service.workers.status import ChildStatus
from tidings.store import Store, StoredChannel, StoreFull, Subscribe
from tidings.store.figures import Growth, growth
from tidings.torture.disk import SmallDisk


def beat(at: float, committed: int, tail: int, composites: int | None = None) -> Beat:
    done = tail if composites is None else composites
    return Beat(at, Growth(tail, tail, 1, 0, tail - committed, committed, tail - done, done))


def at(when: float, committed: int, tail: int) -> tuple[float, int, int]:
    return when, tail - committed, committed


def reasons(service: Service) -> list[str]:
    answer = service.anonymous().get("/readyz")
    found: list[str] = answer.json().get("reasons", [])
    assert answer.status_code == (503 if found else 200)
    return found


def until(served: Served, status: int, word: str = "") -> str:
    """What /readyz says once it has this status and says the word."""
    deadline = time.monotonic() + PATIENCE
    while True:
        answered, body = served.ask("GET", "/readyz")
        if answered == status and word in str(body):
            return str(body)
        assert time.monotonic() < deadline, body
        time.sleep(0.1)


@pytest.mark.parametrize(
    ("seen", "seconds"),
    [
        ([], 0),
        ([at(0, 5, 5), at(2, 5, 5)], 0),
        ([at(0, 5, 5), at(2, 5, 6), at(20, 5, 9)], 28),  # since the first look that saw a lag
        ([at(0, 4, 9), at(20, 5, 9)], 10),  # it moves, slowly
        ([at(0, 5, 9), at(10, 9, 9), at(20, 9, 12)], 10),  # it had caught up in between
    ],
)
def test_for_how_long_nothing_was_committed(seen: list[tuple[float, int, int]], seconds: float) -> None:
    assert stuck_seconds(seen, 30) == seconds


@on_sqlite
def test_a_lag_that_does_not_shrink_for_15_seconds(service: Service) -> None:
    service.app.state.pulse.beats.extend([beat(time.monotonic() - 16, 5, 6), beat(time.monotonic(), 5, 7)])
    assert reasons(service) == ["events wait and the pipeline has committed nothing for 16 s"]
    service.app.state.pulse.beats.append(beat(time.monotonic(), 6, 7))
    assert reasons(service) == []


@on_sqlite
@pytest.mark.parametrize(
    ("child", "reason"),
    [
        (ChildStatus("waiting", "ended by SIGKILL"), "the pipeline is being restarted: ended by SIGKILL"),
        (ChildStatus("stopped"), "the pipeline is stopped"),
        (ChildStatus("running", heard=-1e9), "the pipeline hangs: it has said nothing for"),
    ],
)
def test_a_pipeline_that_does_not_work(service: Service, child: ChildStatus, reason: str) -> None:
    service.gateway.pipeline = child
    (found,) = reasons(service)
    assert found.startswith(reason)
    service.gateway.pipeline = ChildStatus("running", heard=time.monotonic())
    assert reasons(service) == []


@on_sqlite
def test_composites_whose_query_stands_still_for_a_minute(service: Service) -> None:
    beats = service.app.state.pulse.beats
    now = time.monotonic()
    beats.clear()
    beats.extend([beat(now - 61, 7, 7, composites=5), beat(now, 9, 9, composites=5)])
    (found,) = reasons(service)
    assert found.startswith("events wait and the composites' query has committed nothing for 61 s; look into pipeline.")
    beats.append(beat(time.monotonic(), 9, 9, composites=6))
    assert reasons(service) == []


@on_sqlite
def test_a_composite_counts_though_its_query_has_not_begun(service: Service) -> None:
    """Without a pipeline it never does."""
    composite = "[brand = mini] unless [brand = opel] within 10 min"
    assert growth(service.store.database).composites_lag == 0
    made = service.client.post("/v1/subscriptions", json={"composite": composite})
    assert made.status_code == 201, made.text
    for _ in range(3):
        assert service.client.post("/v1/events", json=car(None)).status_code == 202
    seen = growth(service.store.database)
    assert seen.composites_lag >= 3
    assert seen.composites_committed == seen.tail - seen.composites_lag
    service.client.delete(f"/v1/subscriptions/{made.json()['id']}")


@on_sqlite
def test_a_network_process_that_does_not_work(service: Service) -> None:
    with networked(service, "athens") as network:
        assert reasons(service) == []
        network.status = ChildStatus("waiting", "ended by SIGKILL")
        assert reasons(service) == ["the network process is being restarted: ended by SIGKILL"]
        network.status = ChildStatus("failed", "no more files")
        assert reasons(service) == ["the network process failed: no more files"]
        network.status = ChildStatus("running", heard=-1e9)
        assert "the network process hangs" in reasons(service)[0]
        network.status = ChildStatus("running", heard=time.monotonic(), restarts=3)
        assert reasons(service) == []
        assert service.anonymous().get("/readyz").json()["network"] == {"state": "running", "restarts": 3}


@on_sqlite
def test_an_outbox_without_the_lease(service: Service) -> None:
    service.gateway.outbox = ChildStatus("running", heard=time.monotonic(), leads=False)
    assert reasons(service) == ["the outbox waits for the lease that another one holds"]
    service.gateway.outbox = ChildStatus("running", heard=time.monotonic(), leads=True)
    assert reasons(service) == []


def test_an_outbox_elsewhere(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that nobody started, or that ended: judged where there is something to send."""
    read = Subscribe("read", FILTER, "tester")
    told = Subscribe("told", FILTER, "tester", None, "email", StoredChannel("told", "tester", "email", {"to": "a@b.c"}))
    service.store.append([read])
    find(service, "read")
    assert reasons(service) == []
    service.store.append([told])
    find(service, "told", name="e2")
    missing = ["deliveries wait and no outbox has the lease; start `tidings outbox`"]
    assert reasons(service) == missing
    assert service.store.take_lease("test", 60)
    assert reasons(service) == []
    deliver(service)  # they are made, not sent, and the lease is given back
    assert reasons(service) == []
    monkeypatch.setattr(readiness, "PATIENCE", 0.001)
    assert missing[0] in reasons(service)


@on_sqlite
@pytest.mark.parametrize("write", ["append", "add_token"])
def test_writes_that_fail(service: Service, monkeypatch: pytest.MonkeyPatch, write: str) -> None:
    """Of the journal and beside it; ready again as soon as a write of its own succeeds."""

    def fail(*_: object, **named: object) -> None:
        raise StoreFull("/place/tidings.db", "database or disk is full")

    with monkeypatch.context() as broken:
        broken.setattr(service.store, "append", fail)
        broken.setattr(service.store, "add_token", fail)
        broken.setattr(service.store, "try_write", fail)
        login = {"username": "tester", "password": PASSWORD}
        body, path = (car(), "/v1/events") if write == "append" else (login, "/v1/tokens")
        assert service.client.post(path, json=body).status_code == 503
        (reason,) = reasons(service)
        assert reason.startswith("the last write to the store failed: ")
    assert reasons(service) == []


@on_sqlite
def test_a_damaged_database(service: Service) -> None:
    assert service.client.post("/v1/events", json=car("a")).status_code == 202
    with service.store.database.reading() as connection:  # all of it in the file, nothing in the log beside
        connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
    path = Path(service.store_url)
    whole = path.read_bytes()
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(os.urandom(len(whole) - 4096))
    service.store.database.engine.dispose()  # forget the pages that were read before
    assert service.client.post("/v1/events", json=car("b")).status_code >= 500
    assert any("store" in reason for reason in reasons(service))


@pytest.mark.slow
def test_a_full_disk(tmp_path: Path) -> None:
    disk = SmallDisk(tmp_path / "data", "24m")
    if not disk.usable:
        pytest.skip("only root can mount a small disk")
    try:
        with Served(tmp_path / "data", "--no-pipeline", "--no-outbox", "--guests") as served:
            until(served, 200)
            disk.begin()
            words = [f"word {number}" for number in range(2_000)]
            for number in range(1_000):  # until what was free in the database and its log is used up
                domain = {"name": f"d{number}", "kind": "enumerated", "values": words}
                if (status := served.ask("POST", "/v1/schema/domains", domain)[0]) != 201:
                    break
            assert status == 503
            assert "the last write to the store failed" in until(served, 503)
            disk.end()
            until(served, 200)
    finally:
        disk.close()


@pytest.mark.slow
def test_an_outbox_that_waits_for_its_lease(tmp_path: Path) -> None:
    with Store.open(tmp_path / "tidings.db") as store:
        assert store.take_lease("another", 30)
    with Served(tmp_path, "--no-pipeline") as served:
        until(served, 503, "the outbox waits for the lease that another one holds")
        with Store.open(tmp_path / "tidings.db") as store:
            assert store.take_lease("another", 0)  # given back
        until(served, 200)


@pytest.mark.slow
def test_an_outbox_that_hangs(tmp_path: Path) -> None:
    with Served(tmp_path, "--no-pipeline") as served:
        until(served, 200, "running")
        (child,) = descendants(served.process.pid)
        os.kill(child.id, signal.SIGSTOP)
        until(served, 503, "the outbox hangs")
        os.kill(child.id, signal.SIGCONT)
        until(served, 200)


@pytest.mark.slow
def test_java_that_hangs(tmp_path: Path) -> None:
    with Served(tmp_path, "--no-outbox") as served:
        served.wait_until_running()
        until(served, 200)
        (java,) = [one for one in descendants(served.process.pid) if "java" in Path(f"/proc/{one.id}/comm").read_text()]
        os.kill(java.id, signal.SIGSTOP)
        until(served, 503, "the pipeline")
        os.kill(java.id, signal.SIGCONT)
        until(served, 200)
