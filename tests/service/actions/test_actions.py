"""One operation, asked for over HTTP, XML and by a page: the same is stored and the same is told.

All tests share one service, with HTTP and XML in one event loop, and one account.
"""

import asyncio
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any
from xml.sax.saxutils import escape, quoteattr

import httpx
import pytest
from sqlalchemy import text

from tests.service.conftest import SETTINGS, Service, car
from tests.service.delivering import deliver, find
from tests.service.pages.visitor import Visitor
from tests.service.receiver import Receiver, receiver
from tests.service.xml_served import Client
from tidings.service.xml.daemon import XmlDaemon
from tidings.store import Entry, Standing
from tidings.store.journal.entries import Subscribe

ID = re.compile("s-[0-9a-f]{20}")
FILTER = "brand = 'mini' and year < 1990"


@dataclass
class Ways:
    """The three ways in, all of the account 'tester'."""

    service: Service
    http: httpx.Client
    xml: Client
    page: Visitor

    @property
    def token(self) -> str:
        return self.http.headers["Authorization"].removeprefix("Bearer ")

    def ask(self, element: str, attributes: str = "", content: str = "") -> Any:
        return self.xml.ask(f'<{element} token="{self.token}"{attributes}>{content}</{element}>')

    def stored(self, id: str) -> Standing:
        """Without what differs: the id and the places in the journal."""
        return replace(self.service.store.subscription(id, "tester"), id="", since=0, span=None)

    def entries(self, after: int) -> list[Entry]:
        return list(self.service.store.entries(after))

    def subscribe_by_xml(self, filter: str, expiry: str = "") -> Any:
        more = f" expiry={quoteattr(expiry)}" if expiry else ""
        return self.ask("PUBLISH_SUB", f' username="tester"{more}', f"<FILTER>{escape(filter)}</FILTER>")

    def subscribe_by_page(self, filter: str, expiry: str = "") -> str:
        """The id, or '' where it was refused."""
        self.page.get("/pages/subscriptions/new")
        self.page.submit("/pages/subscriptions/new", text=filter, expiry=expiry)
        id = self.page.page.url.path.rpartition("/")[2]
        return "" if id == "new" else id


@pytest.fixture(scope="module")
def ways(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ways]:
    folder = tmp_path_factory.mktemp("actions")
    settings = replace(SETTINGS, allow_loopback_webhooks=True)
    service = Service(str(folder / "tidings.db"), replace(settings, store=str(folder / "tidings.db"), data=folder))
    service.start()

    async def daemon() -> XmlDaemon:
        made = XmlDaemon(service.gateway)
        await made.start("127.0.0.1", 0)
        return made

    running = asyncio.run_coroutine_threadsafe(daemon(), service.loop).result(30)
    try:
        page = Visitor(service).log_in("tester")
        with Client(running.port) as xml:
            yield Ways(service, service.client, xml, page)
    finally:
        asyncio.run_coroutine_threadsafe(running.close(), service.loop).result(30)
        service.stop()


@pytest.mark.parametrize(
    "filter",
    ["brand=mini  and year<1990", "event_type exists", "price > 5 and price < 3", "not (paint = 'red')"],
)
def test_subscribe(ways: Ways, filter: str) -> None:
    posted = ways.http.post("/v1/subscriptions", json={"filter": filter, "expiry": "2999-01-01T00:00:00Z"}).json()
    answer = ways.subscribe_by_xml(filter, "2999-01-01T00:00:00Z")
    by_page = ways.subscribe_by_page(filter, "2999-01-01T00:00:00")
    ids = [posted["id"], answer.get("id"), by_page]
    assert all(ID.fullmatch(id) for id in ids), ids
    assert ways.stored(ids[0]) == ways.stored(ids[1]) == ways.stored(ids[2])
    shown = [node.text_content() for node in ways.page.tree.iterfind(".//p[@role='note']")]
    assert posted["warnings"] == [node.text for node in answer] == shown
    assert bool(shown) == (filter != "brand=mini  and year<1990")


@pytest.mark.parametrize(
    ("filter", "expiry"),
    [("brandy = 'mini'", ""), ("price >", ""), (FILTER, "2001-01-01T00:00:00"), (FILTER, "tomorrow")],
)
def test_a_subscription_that_is_refused(ways: Ways, filter: str, expiry: str) -> None:
    before = ways.service.store.tail()
    body = {"filter": filter} | ({"expiry": expiry} if expiry else {})
    problem = ways.http.post("/v1/subscriptions", json=body)
    assert problem.status_code == 422
    detail = problem.json()["detail"]
    answer = ways.subscribe_by_xml(filter, expiry)
    assert (answer.tag, answer.text) == ("ERROR", detail)
    assert ways.subscribe_by_page(filter, expiry) == ""
    told = ways.page.errors()["expiry"] if expiry else ways.page.tree.get_element_by_id("wrong-text").text_content()
    assert told.casefold().removeprefix("this ").rstrip(".") in detail.casefold()
    assert ways.service.store.tail() == before


def test_change_pause_resume_and_withdraw(ways: Ways) -> None:
    """The same entries in the journal, whoever asks; what is so already makes none."""
    made: dict[str, list[tuple[str, str]]] = {}
    for way in ("http", "page"):
        id = ways.subscribe_by_page(FILTER)
        path, place = f"/v1/subscriptions/{id}", f"/pages/subscriptions/{id}"
        start = ways.service.store.tail()
        for _ in range(2):
            if way == "http":
                ways.http.patch(path, json={"filter": "year < 5"}).raise_for_status()
                ways.http.patch(path, json={"state": "paused"}).raise_for_status()
                ways.http.patch(path, json={"state": "active"}).raise_for_status()
                ways.http.patch(path, json={"state": "active"}).raise_for_status()
            else:
                ways.page.get(f"{place}/edit")
                ways.page.submit(f"{place}/edit", text="year < 5")
                ways.page.submit(f"{place}/pause")
                form = ways.page.form(f"{place}/resume")
                for _ in range(2):
                    assert ways.page.client.post(f"{place}/resume", data=form).status_code == 303
        if way == "http":
            ways.http.delete(path).raise_for_status()
        else:
            ways.page.get(place)
            ways.page.submit(f"{place}/delete")
        made[way] = [(one.kind, one.body.replace(id, "ID")) for one in ways.entries(start)]
    assert made["http"] == made["page"]
    kinds = [kind for kind, _ in made["http"]]
    assert kinds == ["edit", "pause", "resume", "pause", "resume", "withdraw"]
    id, start = ways.subscribe_by_page(FILTER), ways.service.store.tail()
    removed = ways.ask("DELETE_SUB", f' username="tester" id="{id}"')
    assert (removed.tag, removed.get("position")) == ("OK", str(start + 1))
    assert [(one.kind, one.body.replace(id, "ID")) for one in ways.entries(start)] == made["http"][-1:]


def test_what_is_not_there_or_anothers_is_refused_alike(ways: Ways) -> None:
    ways.service.store.append([Subscribe("s-others", FILTER, "somebody")])
    for id in ("s-others", "s-none"):
        assert ways.http.delete(f"/v1/subscriptions/{id}").status_code == 404
        assert ways.ask("DELETE_SUB", f' username="tester" id="{id}"').get("name") == "NoSuchSubscription"
        assert ways.page.get(f"/pages/subscriptions/{id}/edit").status_code == 404
    assert ways.service.store.subscription("s-others").owner == "somebody"


def test_publish(ways: Ways) -> None:
    counts = ways.service.gateway.published
    before = dict(counts)
    attributes = {"brand": "mini", "year": 1990}
    positions = [ways.http.post("/v1/events", json=car("p-http", **attributes)).json()["position"]]
    values = "".join(f'<ATTR type="{name}">{value}</ATTR>' for name, value in attributes.items())
    content = f'<EVENT_TYPE><VALUE type="car"/></EVENT_TYPE><ATTRIBUTES>{values}</ATTRIBUTES>'
    done = ways.ask("PUBLISH_EVENT", ' id="p-xml" contact="a@b.example"', content)
    positions.append(int(done.get("position")))
    ways.page.get("/pages/publish", type="car")
    filled: dict[str, Any] = {f"value:{name}": str(value) for name, value in attributes.items()}
    ways.page.submit("/pages/publish", id="p-page", **filled)
    positions.append(int(ways.page.page.url.params["published"]))
    events = ways.service.store.events_at(positions)
    plain = [re.sub(r'"p-\w+"', '"ID"', events[one]).replace('"contact":"a@b.example",', "") for one in positions]
    assert plain[0] == plain[1] == plain[2]
    again = ways.http.post("/v1/events", json=car("p-http", **attributes)).json()
    assert (again["position"], again["duplicate"]) == (positions[0], True)
    assert ways.ask("PUBLISH_EVENT", ' id="p-xml" contact="a@b.example"', content).get("duplicate") == "true"
    ways.page.get("/pages/publish", type="car")
    ways.page.submit("/pages/publish", id="p-page", **filled)
    assert int(ways.page.page.url.params["published"]) == positions[2]
    assert {name: counts[name] - before[name] for name in before} == {"accepted": 3, "duplicate": 3, "refused": 0}


def test_an_event_that_is_refused(ways: Ways) -> None:
    counts, before = ways.service.gateway.published, ways.service.gateway.published["refused"]
    problem = ways.http.post("/v1/events", json={"event_type": "car", "attributes": {"brand": "mini"}}).json()
    rules = [(one["rule"], one["attribute"]) for one in problem["errors"]]
    content = '<EVENT_TYPE><VALUE type="car"/></EVENT_TYPE><ATTRIBUTES><ATTR type="brand">mini</ATTR></ATTRIBUTES>'
    answer = ways.ask("PUBLISH_EVENT", ' contact="a@b.example"', content)
    assert [(one.get("rule"), one.get("attribute")) for one in answer.iterfind("BROKEN")] == rules
    ways.page.get("/pages/publish", type="car")
    assert ways.page.submit("/pages/publish", **{"value:brand": "mini"}).status_code == 422
    assert rules == [("mandatory", "year")]
    assert counts["refused"] == before + 3


def test_grow(ways: Ways) -> None:
    start = ways.service.store.tail()
    grown = ways.http.post("/v1/schema/attributes", json={"name": "g-http", "domain": "money"}).json()
    answer = ways.ask("ADD_ATTRIBUTE", "", '<ATTR_DOM name="g-xml" type="money"/>')
    ways.page.get("/pages/schema/grow/attribute")
    ways.page.submit("/pages/schema/grow/attribute", name="g-page", domain="money")
    told = [(one.kind, re.sub(r'"g-\w+"', '"ID"', one.body)) for one in ways.entries(start)]
    assert len(told) == 3
    assert len(set(told)) == 1
    version = ways.service.store.catalog().version
    assert (grown["version"], grown["position"]) == (version - 2, start + 1)
    assert (int(answer.get("version")), int(answer.get("position"))) == (version - 1, start + 2)
    detail = ways.http.post("/v1/schema/attributes", json={"name": "g-http", "domain": "money"}).json()["detail"]
    assert ways.ask("ADD_ATTRIBUTE", "", '<ATTR_DOM name="g-http" type="money"/>').text == detail
    ways.page.get("/pages/schema/grow/attribute")
    ways.page.submit("/pages/schema/grow/attribute", name="g-http", domain="money")
    assert ways.page.errors()["name"].casefold().rstrip(".") == detail.casefold()


def test_channels_replay_and_test(ways: Ways) -> None:
    with receiver() as hook:
        ids = [ways.subscribe_by_page(FILTER), ways.subscribe_by_page(FILTER)]
        by_page, by_http = ids
        asked = {"kind": "webhook", "url": hook.url, "rate": {"count": 3, "seconds": 60}}
        answer = ways.http.patch(f"/v1/subscriptions/{by_http}", json={"channel": asked}).json()
        place = f"/pages/subscriptions/{by_page}"
        ways.page.get(f"{place}/channel")
        ways.page.submit(f"{place}/channel", kind="webhook", url=hook.url, rate_count="3", rate_seconds="60")
        secrets = [re.findall(r"whsec_[\w+/=]+", ways.page.page.text)[0], answer["secret"]]
        kept = [ways.service.store.channel(id, "tester") for id in ids]
        assert [one.secrets[0][0] for one in kept if one] == secrets
        plain = [replace(one, subscription="", secrets=(), changed=kept[0].changed) for one in kept if one and kept[0]]
        assert plain[0] == plain[1]
        assert ways.stored(by_page) == ways.stored(by_http)

        assert ways.http.post(f"/v1/subscriptions/{by_http}/test-delivery").json()["ok"] is True
        ways.page.get(f"{place}/deliveries")
        ways.page.submit(f"{place}/test-delivery")
        first, second = hook.wait(2)
        assert first.json["event"] == second.json["event"]

        find(ways.service, *ids, name="replayed")
        deliver(ways.service)
        assert ways.http.post(f"/v1/subscriptions/{by_http}/replay", json={"from": 1}).json() == {"replayed": 1}
        number = ways.service.store.deliveries_of(by_page, "tester")[0].number
        fields = {"proof": ways.page.form(f"{place}/deliveries")["proof"], "act": "replay", "number": str(number)}
        ways.page.client.post(f"{place}/deliveries", data=fields, follow_redirects=True).raise_for_status()
        for id in ids:
            (delivery,) = ways.service.store.deliveries_of(id, "tester")
            assert (delivery.state, delivery.attempts) == ("due", 0)


def test_accounts(ways: Ways) -> None:
    store = ways.service.store
    ways.service.joined("by-http")
    Visitor(ways.service).join("by-page")
    first, second = store.account("by-http"), store.account("by-page")
    assert first is not None
    assert second is not None
    assert first.scopes == second.scopes
    assert [one.kind for one in store.tokens_of("by-http")] == ["token"]
    assert [one.kind for one in store.tokens_of("by-page")] == ["session"]
    body = {"username": "By Http", "password": "correct horse battery staple"}
    detail = ways.service.anonymous().post("/v1/accounts", json=body).json()["detail"]
    visitor = Visitor(ways.service)
    visitor.get("/pages/register")
    visitor.submit("/pages/register", username="By Http", password=body["password"], again=body["password"])
    assert visitor.errors()["username"].casefold().rstrip(".") == detail.casefold()


@pytest.mark.slow  # a process that answers questions takes seconds to start
def test_questions(ways: Ways) -> None:
    """Why an event matched, and what is odd about a filter, are told alike."""
    id = ways.subscribe_by_page(FILTER)
    position = ways.http.post("/v1/events", json=car("asked", year=1980)).json()["position"]
    ways.service.commit(ways.service.store.committed() + 1, position, [(position, [id])])
    filter = ways.service.store.subscription(id).filter
    told = ways.http.post("/v1/filters/explain", json={"filter": filter, "position": position}).json()
    ways.page.get(f"/pages/subscriptions/{id}/why/{position}")
    assert told["matches"] is True
    assert all(one["predicate"] in ways.page.text for one in told["alternatives"][0]["predicates"])
    tried = ways.http.post("/v1/filters/test", json={"filter": "event_type exists"}).json()
    ways.page.get("/pages/subscriptions/new")
    ways.page.submit("/pages/subscriptions/new", text="event_type exists", check="1")
    (warning,) = tried["warnings"]
    assert warning == "this filter matches every event"
    assert warning[1:] in ways.page.text


class Broken:
    """A database in which one table takes no rows."""

    def __init__(self, service: Service, table: str, what: str) -> None:
        self._database = service.store.database
        self._table, self._what = table, what

    def __enter__(self) -> None:
        refuse = f"CREATE TRIGGER broken BEFORE {self._what} ON {self._table} BEGIN SELECT RAISE(ABORT, 'broken'); END"
        self._run(refuse)

    def __exit__(self, *_: object) -> None:
        self._run("DROP TRIGGER broken")

    def _run(self, statement: str) -> None:
        with self._database.writing() as connection:
            connection.execute(text(statement))


@pytest.fixture
def hook() -> Iterator[Receiver]:
    with receiver() as running:
        yield running


@pytest.mark.parametrize("table", ["journal", "channels", "subscriptions", "about"])
def test_a_subscription_and_its_channel_are_stored_together_or_not_at_all(
    ways: Ways, hook: Receiver, table: str
) -> None:
    """The transaction breaks at each of its steps."""
    store = ways.service.store
    before = (store.tail(), store.count_subscriptions("tester"), _channels(ways))
    body = {"filter": FILTER, "channel": {"kind": "webhook", "url": hook.url}}
    headers = {"Idempotency-Key": f"broken-{table}"}
    with Broken(ways.service, table, "UPDATE" if table == "about" else "INSERT"):
        assert ways.http.post("/v1/subscriptions", json=body, headers=headers).status_code >= 500
    assert (store.tail(), store.count_subscriptions("tester"), _channels(ways)) == before
    made = ways.http.post("/v1/subscriptions", json=body, headers=headers).json()
    kept = store.channel(made["id"], "tester")
    assert kept is not None
    assert kept.secrets[0][0] == made["secret"]
    assert (store.tail(), _channels(ways)) == (before[0] + 1, before[2] + 1)


@pytest.mark.parametrize("table", ["journal", "channels", "about"])
def test_a_change_is_stored_whole_or_not_at_all(ways: Ways, hook: Receiver, table: str) -> None:
    id = ways.http.post(
        "/v1/subscriptions", json={"filter": FILTER, "channel": {"kind": "webhook", "url": hook.url}}
    ).json()["id"]
    store, path = ways.service.store, f"/v1/subscriptions/{id}"
    before = (store.tail(), store.subscription(id), store.channel(id))
    change = {"filter": "year < 5", "state": "paused", "channel": {"kind": "webhook", "url": f"{hook.url}/new"}}
    with Broken(ways.service, table, "INSERT" if table == "journal" else "UPDATE"):
        assert ways.http.patch(path, json=change).status_code >= 500
    assert (store.tail(), store.subscription(id), store.channel(id)) == before
    wrong = change | {"expiry": "2001-01-01"}
    assert ways.http.patch(path, json=wrong).status_code == 422
    assert ways.http.patch(path, json=change | {"filter": "brandy = 1"}).status_code == 422
    assert (store.tail(), store.subscription(id), store.channel(id)) == before
    ways.http.patch(path, json=change).raise_for_status()
    after, channel = store.subscription(id), store.channel(id)
    assert channel is not None
    assert (after.filter, after.state, channel.settings["url"]) == ("year < 5", "paused", f"{hook.url}/new")
    assert [one.kind for one in ways.entries(before[0])] == ["edit", "pause"]


def _channels(ways: Ways) -> int:
    with ways.service.store.database.reading() as connection:
        return int(connection.execute(text("SELECT count(*) FROM channels")).scalar_one())
