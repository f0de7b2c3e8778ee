"""The thesis's client against a running server, checked by the naive matcher (5.5, 8.2)."""

import asyncio
import json
import threading
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from tests.cli.conftest import Tidings
from tests.client.matched import match_all
from tests.service.conftest import Service
from tests.service.served import Served
from tests.store.batches import commit_batch
from tidings.cli.server.server import save_token
from tidings.client import Client
from tidings.service.xml.daemon import XmlDaemon

_TABLE = pa.schema([("position", pa.int64()), ("subscriptions", pa.list_(pa.string()))])


@pytest.fixture(autouse=True)
def nothing_saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    for name in ("TIDINGS_SERVER", "TIDINGS_TOKEN"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def matched(service: Service) -> Iterator[Service]:
    """A service whose events are matched as they come, by the specification."""
    stopped = threading.Event()
    problems: list[BaseException] = []

    def run() -> None:
        try:
            while not stopped.wait(0.2):
                match_all(service.store)
        except BaseException as problem:  # told to the test, whose thread this is not
            problems.append(problem)

    matching = threading.Thread(target=run)
    matching.start()
    yield service
    stopped.set()
    matching.join(120)
    assert problems == []


@pytest.fixture
def xml(service: Service) -> Iterator[str]:
    """The address of the service's XML daemon."""
    daemon = XmlDaemon(service.gateway)
    asyncio.run_coroutine_threadsafe(daemon.start("127.0.0.1", 0), service.loop).result(10)
    yield f"127.0.0.1:{daemon.port}"
    asyncio.run_coroutine_threadsafe(daemon.close(), service.loop).result(30)


@pytest.mark.slow
def test_every_notification_is_what_naive_says(matched: Service, tidings: Tidings) -> None:
    done = tidings(
        "simulate", "--server", matched.address, "--rate", "0", "--ratio", "3", "--events", "200", "--check", "--json"
    )
    assert done.exit_code == 0, done.stderr
    figures = json.loads(done.stdout)
    assert figures["published"] == 201  # the last one tells that all are matched
    assert figures["subscribed"] > 30
    assert figures["matched"] > 10
    assert (figures["missing"], figures["phantom"]) == (0, 0)
    assert matched.store.subscriptions() == []


def test_over_xml_as_over_http(matched: Service, xml: str, tidings: Tidings) -> None:
    options = ("--server", matched.address, "--rate", "0", "--ratio", "3", "--events", "60", "--check", "--json")
    over_xml = tidings("simulate", *options, "--xml", xml)
    assert over_xml.exit_code == 0, over_xml.stderr
    over_http = tidings("simulate", *options)
    for name in ("published", "subscribed", "matched", "missing", "phantom"):
        assert json.loads(over_xml.stdout)[name] == json.loads(over_http.stdout)[name]
    assert json.loads(over_xml.stdout)["matched"] > 0


def test_what_is_missing_or_too_much_is_told(service: Service, tidings: Tidings) -> None:
    """A pipeline that tells everybody of one event, and nobody of the others."""
    done = threading.Event()

    def wrongly() -> None:
        while not done.wait(0.1):
            standing = service.store.subscriptions()
            if not any("-end'" in one.filter for one in standing):
                continue
            (end,) = (one for one in standing if "-end'" in one.filter)
            if service.store.tail() == end.since:
                continue
            positions = [entry.position for entry in service.store.entries() if entry.kind == "event"]
            others = [one.id for one in standing if one.id != end.id]
            rows = [
                {"position": positions[-2], "subscriptions": others},
                {"position": positions[-1], "subscriptions": [end.id]},
            ]
            commit_batch(service.store, 1, service.store.tail(), pa.Table.from_pylist(rows, _TABLE))
            return

    matching = threading.Thread(target=wrongly)
    matching.start()
    result = tidings(
        "simulate", "--server", service.address, "--rate", "0", "--ratio", "2", "--events", "80", "--check"
    )
    done.set()
    matching.join(120)
    assert result.exit_code == 1, result.stderr
    assert result.stdout.split()[:5] == ["published", "subscribed", "matched", "missing", "phantom"]
    _, subscribed, matched, missing, phantom, _ = result.stdout.splitlines()[1].split()
    assert int(matched) + int(phantom) == int(subscribed)
    assert int(missing) > 0
    assert int(phantom) > 0
    assert "warning: missing: the event at position" in result.stderr
    assert "warning: phantom: the event at position" in result.stderr


def test_a_pipeline_that_does_not_run_is_told(service: Service, tidings: Tidings) -> None:
    done = tidings(
        "simulate", "--server", service.address, "--rate", "0", "--events", "5", "--check", "--patience", "1"
    )
    assert done.exit_code == 1
    assert "not everything was matched within 1 s" in done.stderr
    assert service.store.subscriptions() == []


def test_as_an_account_of_ones_own(service: Service, tidings: Tidings) -> None:
    with Client(service.address) as ann:
        token = ann.register("ann", "correct horse battery")
        done = tidings(
            "simulate", "--server", service.address, "--token", token, "--rate", "0", "--seconds", "0.5", "--keep"
        )
        assert done.exit_code == 0
        standing = list(ann.subscriptions())
    assert standing
    assert {one.owner for one in service.store.subscriptions()} == {"ann"}
    assert done.stdout.split()[:2] == ["published", "subscribed"]


def test_usage(tidings: Tidings) -> None:
    assert tidings("simulate", "--seconds", "1", "--events", "1").exit_code == 2
    assert tidings("simulate", "--xml", "nowhere").exit_code == 2


@pytest.mark.slow
def test_the_whole_service_agrees_with_naive(tmp_path: Path, tidings: Tidings) -> None:
    """`tidings serve` with its pipeline on Spark, posted to over HTTP and over XML."""
    with Served(tmp_path / "data") as served:
        address = f"http://127.0.0.1:{served.port}"
        with Client(address) as ann:
            save_token(address, ann.register("ann", "correct horse battery"))
        assert tidings("schema", "grow", "schema.json", "--server", address).exit_code == 0
        options = ("--server", address, "--ratio", "3", "--check", "--json")
        over_http = tidings("simulate", *options, "--rate", "0", "--events", "600")
        assert over_http.exit_code == 0, over_http.stderr
        while_it_runs = tidings("simulate", *options, "--rate", "50", "--seconds", "6", "--seed", "2")
        assert while_it_runs.exit_code == 0, while_it_runs.stderr
        over_xml = tidings(
            "simulate", *options, "--rate", "0", "--events", "300", "--xml", f"127.0.0.1:{served.xml_port}"
        )
        assert over_xml.exit_code == 0, over_xml.stderr
        for done in (over_http, while_it_runs, over_xml):
            figures = json.loads(done.stdout)
            assert (figures["missing"], figures["phantom"]) == (0, 0)
            assert figures["matched"] > 20
        assert served.stop() == 0
