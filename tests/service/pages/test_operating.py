"""The operator's page: children and their last words, the plan, the journal, endpoints in trouble, dead letters."""

import json
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from tests.service.conftest import SETTINGS, Service, car, on_sqlite
from tests.service.delivering import send
from tests.service.figures import figures
from tests.service.pages.answering import answering
from tests.service.pages.visitor import Visitor
from tidings.events import BrokenRule
from tidings.notifying.outbox.limits import Limits
from tidings.notifying.outbox.places import Places
from tidings.pipeline.plans.plan_figures import PlanReader
from tidings.pipeline.plans.planner import Planner
from tidings.pipeline.plans.plans import Plans
from tidings.schema import Instant
from tidings.service.api.operator_routes import Figuring
from tidings.service.workers.children import Child
from tidings.service.workers.status import ChildStatus
from tidings.service.workers.supervisor import Supervisor
from tidings.settings import Settings
from tidings.store import AttemptResult, DeadLetter, SetQuota, Store
from tidings.store.notifications.commits import CHUNK
from tidings.store.pages import oversight

OPERATOR = "/pages/operator"


@pytest.fixture
def settings() -> Settings:
    return replace(SETTINGS, allow_loopback_webhooks=True, webhook_handshake="none")


@pytest.fixture
def operator(service: Service) -> Visitor:
    Visitor(service).join("olga")
    service.store.change_account("olga", None, frozenset({"publish", "subscribe", "operate"}))
    service.gateway.callers.forget()
    return Visitor(service).log_in("olga")


def _letter(number: int) -> DeadLetter:
    rule = BrokenRule("domain", "year", "<b>old</b>", "'<b>old</b>' is no number")
    return DeadLetter("cars.csv", f"line {number}", None, "<script>alert(1)</script>", (rule,))


def _look_anew(service: Service) -> None:
    """Figures are kept for a second."""
    service.app.state.figuring = Figuring(service.gateway)


@on_sqlite
def test_it_is_for_operators(service: Service, ann: Visitor) -> None:
    for page in (OPERATOR, f"{OPERATOR}/now"):
        assert ann.get(page).status_code == 404
    assert "Operator" not in ann.text


def test_children_journal_and_plan(service: Service, operator: Visitor) -> None:
    position = service.client.post("/v1/events", json=car()).json()["position"]
    service.client.post("/v1/subscriptions", json={"filter": "brand = mini"})
    operator.get(OPERATOR)
    assert "No plan here: the pipeline runs elsewhere." in operator.text
    assert "tidings_plan" not in service.anonymous().get("/metrics").text
    Planner(service.store, Plans(service.settings.data / "plans")).catch_up()
    (service.settings.data / "pipeline.log").write_text("x" * 5_000 + "\nerror: <b>the disk</b> is full\n")
    service.gateway.pipeline = ChildStatus("waiting", "ended by SIGKILL: it left no message", restarts=3)
    _look_anew(service)
    page = operator.get(OPERATOR).text
    plan = PlanReader(service.settings.data / "plans").read()
    assert plan is not None
    assert plan.segments == 1
    assert plan.bytes > 0
    for words in (
        "waiting", "Restarts3", "ended by SIGKILL", "error: <b>the disk</b> is full", "Made",
        "Segments1", "up to date", f"Last position{service.store.tail()}", "Oldest event",
    ):  # fmt: skip
        assert words in operator.text, words
    assert operator.tree.xpath(f"//dd[@title='version {plan.version}']"), "for who asks"
    assert str(plan.version) not in operator.text
    assert "<b>the disk" not in page
    assert "x" * 100 not in page, "the end of the log, from a whole line on"
    assert "Events are kept until tidings journal trim removes old ones" in operator.text
    service.gateway.settings = replace(service.settings, keep_events_days=7)
    assert "removed after 7 days" in operator.get(OPERATOR).text
    service.client.post("/v1/subscriptions", json={"filter": "brand = opel"})
    assert "newer changes pending" in operator.get(f"{OPERATOR}/now").text
    assert "<html" not in operator.page.text
    metrics = figures(service.anonymous().get("/metrics").text)
    assert metrics["tidings_plan_bytes"] == plan.bytes
    assert metrics["tidings_plan_covers_position"] == position + 1
    assert metrics["tidings_plan_segments"] == 1


def test_the_size_on_disk_is_that_of_the_store(service: Service, operator: Visitor) -> None:
    before = oversight.disk_bytes(service.store)
    assert before > 0
    service.client.post("/v1/events", json=[car(f"e{number}", paint="x" * 1_000) for number in range(500)])
    operator.get(OPERATOR)
    assert "On disk" in operator.text
    assert oversight.disk_bytes(service.store) > before


def test_matches_beyond_a_quota(service: Service, operator: Visitor, ann: Visitor) -> None:
    assert "Matches dropped by quotas 0 matches in total None." in _page(operator, OPERATOR)
    assert "dropped" not in _page(ann, "/pages/account")
    service.store.append([SetQuota(2, "ann")])
    tail = service.store.tail()
    row = {"position": tail, "owner": "ann", "minute": 5, "dropped": 0}
    rows = [{**row, "subscription": f"s{number}"} for number in range(1_005)]
    service.store.commit(1, tail, [pa.RecordBatch.from_pylist(rows, schema=CHUNK)])
    _look_anew(service)
    shown = _page(operator, OPERATOR)
    assert "Matches dropped by quotas 1,003 matches in total" in shown
    assert operator.tree.xpath("//tr[th='ann']/td/text()") == ["1,003", "2"]
    assert "tidings journal quota" in shown
    mine = _page(ann, "/pages/account")
    assert "1,003 matches of your subscriptions were dropped: not stored, not delivered." in mine
    assert "Your account may have 2 matches a minute." in mine
    assert "ask the operator for a higher quota" in mine
    assert "dropped" not in _page(Visitor(service).join("bob"), "/pages/account"), "it is ann's alone"
    metrics = service.anonymous().get("/metrics").text
    assert figures(metrics)["tidings_matches_dropped_total"] == 1003
    assert "ann" not in metrics, "anybody may read it"


def _page(visitor: Visitor, path: str) -> str:
    visitor.get(path)
    return visitor.text


@on_sqlite
def test_endpoints_in_trouble_by_host(service: Service, operator: Visitor) -> None:
    operator.get(OPERATOR)
    assert "None." in operator.text
    with answering(503, "<i>busy</i>") as receiver:
        made = {"filter": "brand = mini", "channel": {"kind": "webhook", "url": receiver.url}}
        ids = [service.client.post("/v1/subscriptions", json=made).json()["id"] for _ in range(2)]
        position = service.client.post("/v1/events", json=car()).json()["position"]
        service.commit(1, position, [(position, ids)])
        send(service)
    host = receiver.url.removeprefix("http://").removesuffix("/hook")
    service.gateway.outbox = ChildStatus("running", busiest=((f"webhook {host}", 7, "slow"),))
    _look_anew(service)
    operator.get(OPERATOR)
    assert f"webhook {host}: 7 connections, slow" in operator.text
    (row,) = operator.tree.xpath(f"//tr[th[contains(., '{host}')]]")
    cells = {cell.get("data-name"): " ".join(cell.text_content().split()) for cell in row.iter("td")}
    assert (cells["Channels"], cells["Waiting"], cells["Failed in a row"]) == ("2", "2", "0")
    assert cells["Sending now"] == "7"
    assert cells["State"].startswith("failing began ")
    assert row.xpath(".//span[@class='state bad']")[0].text == "failing"
    (counts,) = operator.tree.xpath("//tr[th = 'webhook']")
    assert [(cell.get("data-name"), cell[0].text) for cell in counts if len(cell)] == [("Failed attempts", "2")]
    assert all("num" in cell.get("class") for cell in counts.iter("td"))
    service.store.change_channel(ids[0], "tester", state="disabled", reason="gone")
    operator.get(OPERATOR)
    assert "1 disabled" in [one.text for one in operator.tree.xpath("//td/span/span[@class='state bad']")]
    assert "503" in cells["Last error"]
    assert "tester" in cells["Last error"]
    assert "/hook" not in operator.page.text, "an address may hold a secret"


@on_sqlite
def test_dead_letters_come_in_pages(service: Service, operator: Visitor) -> None:
    service.store.bury([_letter(number) for number in range(1, 26)])
    _look_anew(service)
    operator.get(OPERATOR)
    assert "25 events refused from files and streams" in operator.text
    assert "line 25" in operator.text
    assert "<script>alert(1)</script>" not in operator.page.text
    assert "'<b>old</b>' is no number" in operator.text
    assert "line 5 " not in operator.text
    operator.get(next(link.get("href") for link in operator.tree.iter("a") if link.get("rel") == "next"))
    shown = [node.text for node in operator.tree.iter("span") if (node.text or "").startswith("line ")]
    assert shown == [f"line {number}" for number in range(5, 0, -1)]


def test_a_plan_that_cannot_be_read_is_none(tmp_path: Path) -> None:
    reader = PlanReader(tmp_path / "plans")
    assert reader.read() is None
    with Store.open(tmp_path / "tidings.db") as store:
        published = Planner(store, Plans(tmp_path / "plans")).catch_up()
    found = reader.read()
    assert found is not None
    assert (found.version, found.covers, len(found.shards)) == (published.version, 0, 1)
    manifest = Plans(tmp_path / "plans").path(published.version, 0) / "manifest.json"
    manifest.write_text("{")
    assert reader.read() is found, "it is known already"
    assert PlanReader(tmp_path / "plans").read() is None
    manifest.unlink()
    assert PlanReader(tmp_path / "plans").read() is None


def test_where_an_outbox_is_busy_reaches_its_status(tmp_path: Path) -> None:
    places = Places(Limits())
    for destination in ("webhook quick", "webhook slow", "webhook idle"):
        places.start(destination)
    places.attempted("webhook slow", AttemptResult(1, 0, Instant(0), 60.0, False, "", problem="no answer"), 0.0)
    places.end("webhook idle", object())
    said = places.busiest(10)
    assert said == [("webhook slow", 1, "slow"), ("webhook quick", 1, "unknown")]
    line = json.dumps({"lag": 2, "busiest": said})
    command = [sys.executable, "-c", f"import sys; print({line!r}, flush=True); sys.stdin.read()"]
    heard = threading.Event()
    statuses: list[ChildStatus] = []

    def tell(status: ChildStatus) -> None:
        statuses.append(status)
        if status.busiest:
            heard.set()

    supervisor = Supervisor(Child("outbox", command, {}, tmp_path / "outbox.log", lambda: 0, "idle"), tell)
    supervisor.start()
    try:
        assert heard.wait(60)
    finally:
        supervisor.stop()
    assert tuple(said) in [status.busiest for status in statuses]
