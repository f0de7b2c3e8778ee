"""The thesis's six requests and the three further ones, over a real socket."""

from tests.service.conftest import on_sqlite
from tests.service.xml_served import CAR, CARS, Served, Speaker, posted, served
from tests.store.detected import T1, T2, three_detections


def test_a_whole_day(daemon: Served, ann: Speaker) -> None:
    """A schema, a subscription, events, what matched, and the end of the subscription: on one connection."""
    made = ann.ok(
        '<ADD_DOMAIN token="{token}"><DOMAIN type="enum" attr="wood ,carbon ,epox">'
        '<OPER type="eq"/><OPER type="noteq"/></DOMAIN></ADD_DOMAIN>'
    )
    assert made["name"] == "8"  # examples/schema.json has seven
    assert int(made["version"]) == daemon.store.catalog().version
    ann.ok('<ADD_ATTRIBUTE token="{token}"><ATTR_DOM name="material" type="8"/></ADD_ATTRIBUTE>')
    ann.ok('<ADD_ATTRIBUTE token="{token}"><ATTR_DOM name="size" type="money"/></ADD_ATTRIBUTE>')
    ann.ok(
        '<ADD_EVENT token="{token}"><E_TYPE type="surf-board">'
        '<E_ATTR mandatory="true" unique="true" domid="1" type="price"/>'
        '<E_ATTR mandatory="false" unique="true" domid="8" type="material"/></E_TYPE></ADD_EVENT>'
    )
    ann.ok('<EXTENT_SCHEMA type="surf-board" token="{token}"><E_ATTR unique="true" type="size"/></EXTENT_SCHEMA>')
    id = posted(
        ann,
        '<EVENT_TYPE><VALUE type="surf-board" oper="contains"/></EVENT_TYPE><ATTRIBUTES>'
        '<ATTR type="price" oper="lt">6.5</ATTR><ATTR type="material" oper="noteq">epox</ATTR></ATTRIBUTES>',
    )
    standing = daemon.store.subscription(id, "ann")
    assert standing.filter == "event_type contains 'surf-board' and price < 6.5 and material != 'epox'"
    event = (
        '<PUBLISH_EVENT contact="sbile@intelligence.tuc.gr" id="e1" source="shop" token="{token}"><EVENT_TYPE>'
        '<VALUE type="surf-board"/></EVENT_TYPE><ATTRIBUTES><ATTR type="price">5</ATTR>'
        '<ATTR type="material">wood</ATTR></ATTRIBUTES></PUBLISH_EVENT>'
    )
    first = ann.ok(event)
    assert (first["id"], first["duplicate"]) == ("e1", "false")
    again = ann.ok(event)
    assert (again["position"], again["duplicate"]) == (first["position"], "true")
    daemon.commit([(int(first["position"]), [id])])

    log = ann.ask('<LIST_EVENTS username="ann" token="{token}"/>')
    assert log.tag == "USER_LOG"
    (sub,) = log.findall("USER[@username='ann']/SUBSCRIPTIONS/PUBLISH_SUB")
    assert sub.get("id") == id
    assert [(e.get("type"), e.get("oper"), e.text) for e in sub.iterfind("ATTRIBUTES/ATTR")] == [
        ("price", "lt", "6.5"),
        ("material", "noteq", "epox"),
    ]
    (found,) = sub.findall("EVENTS/PUBLISH_EVENT")
    assert (found.get("contact"), found.get("id"), found.get("source")) == ("sbile@intelligence.tuc.gr", "e1", "shop")
    assert {e.get("type"): e.text for e in found.iterfind("ATTRIBUTES/ATTR")} == {"price": "5", "material": "wood"}
    assert "password" not in log.find("USER").attrib
    after = log.get("next")
    assert ann.ask(f'<LIST_EVENTS token="{{token}}" after="{after}"/>').find(".//PUBLISH_EVENT") is None

    assert ann.ok(f'<DELETE_SUB username="ann" token="{{token}}" id="{id}"/>')["id"] == id
    assert ann.refused(f'<DELETE_SUB username="ann" token="{{token}}" id="{id}"/>') == "NoSuchSubscription"
    assert ann.ask('<LIST_SUBS token="{token}"/>').find(".//PUBLISH_SUB") is None
    (former,) = ann.ask('<LIST_EVENTS token="{token}"/>').iterfind(".//PUBLISH_SUB")
    assert (former.get("id"), former.get("state")) == (id, "withdrawn")


def test_the_thesiss_own_requests_with_their_document_types(daemon: Served, ann: Speaker) -> None:  # appendix C
    answer = ann.client.ask(
        '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE ADD_DOMAIN SYSTEM\n'
        '  "intellix.intelligence.tuc.gr:8090/dtds/add_dom.dtd">\n'
        f'<ADD_DOMAIN token="{ann.token}">\n'
        '  <DOMAIN type="numeric">\n    <OPER type="eq" />\n    <OPER type="noteq" />\n    </DOMAIN>\n</ADD_DOMAIN>\n'
    )
    assert answer.get("name") == "8"
    assert daemon.store.catalog().domain("8").operators == ("=", "!=")  # type: ignore[union-attr]


@on_sqlite
def test_errors_have_the_thesiss_names(ann: Speaker) -> None:
    use = '<E_ATTR mandatory="{}" unique="true" type="{}"/>'
    extend = '<EXTENT_SCHEMA type="{}" token="{{token}}">{}</EXTENT_SCHEMA>'
    add = '<ADD_EVENT token="{{token}}"><E_TYPE type="{}">{}</E_TYPE></ADD_EVENT>'
    attribute = '<ADD_ATTRIBUTE token="{{token}}"><ATTR_DOM name="{}" type="{}"/></ADD_ATTRIBUTE>'
    assert ann.refused(attribute.format("price", "money")) == "SameAttributeInSchema"
    assert ann.refused(attribute.format("weight", "mony")) == "UnknownName"
    assert ann.refused(extend.format("car", use.format("false", "brand"))) == "SameAttributeInSchema"
    assert ann.refused(extend.format("car", use.format("false", "wings"))) == "NoSuchAttribute"
    assert ann.refused(extend.format("boat", use.format("false", "price"))) == "EventTypeNotFound"
    assert ann.refused(extend.format("car", use.format("true", "price"))) == "MandatoryExtension"
    assert ann.refused(extend.format("car", "")) == "InvalidRequest"
    assert ann.refused(add.format("car", "")) == "SameEventInSchema"
    assert ann.refused(add.format("boat", use.format("true", "wings"))) == "NoSuchAttribute"
    assert ann.refused(add.format("boat", '<E_ATTR unique="true" type="price"/>')) == "InvalidRequest"
    assert ann.refused('<DELETE_SUB id="s-1" token="{token}"/>') == "NoSuchSubscription"
    assert ann.refused('<LIST_EVENTS id="s-1" token="{token}"/>') == "NoSuchSubscription"
    post = '<PUBLISH_SUB username="ann" token="{token}">'
    assert ann.refused(post + "<FILTER>pric &lt; 3</FILTER></PUBLISH_SUB>") == "NoSuchAttribute"
    assert ann.refused(post + "<FILTER>price &lt; </FILTER></PUBLISH_SUB>") == "UnexpectedToken"
    one = '<ATTRIBUTES><ATTR type="{}" oper="{}">{}</ATTR></ATTRIBUTES></PUBLISH_SUB>'
    assert ann.refused(post + one.format("wings", "eq", "2")) == "NoSuchAttribute"
    assert ann.refused(post + one.format("price", "eq", "two")) == "OutsideDomain"
    assert ann.refused(post + one.format("price", "similar", "2")) == "InvalidRequest"
    assert ann.refused(post + one.format("title", "contains", "?!")) == "UnclearWords"
    assert ann.refused(post + '<EVENT_TYPE><VALUE type="boat"/></EVENT_TYPE></PUBLISH_SUB>') == "EventTypeNotFound"
    assert ann.refused(CAR.replace('"car"', '"boat"').replace("{more}", "")) == "EventTypeNotFound"
    assert ann.refused("<HELLO/>") == "UnknownRequest"


@on_sqlite
def test_who_may(daemon: Served, ann: Speaker) -> None:
    bob = Speaker(daemon, "bob", frozenset({"publish"}))
    post = '<PUBLISH_SUB username="{}" token="{}"><FILTER>price &lt; 3</FILTER></PUBLISH_SUB>'
    assert bob.refused(post.format("bob", bob.token)) == "OutOfScope"
    assert bob.refused(post.format("ann", bob.token)) == "NoSuchUser"
    assert ann.refused(post.format("bob", ann.token)) == "NoSuchUser"
    assert ann.refused(post.format("ann", "tid_wrong")) == "NoSuchUser"
    assert ann.refused('<PUBLISH_SUB username="ann"><FILTER>price &lt; 3</FILTER></PUBLISH_SUB>') == "NoToken"
    assert ann.refused('<LIST_SUBS token="tid_wrong"/>') == "UnknownToken"
    assert ann.refused("<LIST_SUBS/>") == "NoToken"
    assert ann.refused(CAR.replace(' token="{token}"', "").replace("{more}", "")) == "NoToken"
    assert bob.refused('<ADD_ATTRIBUTE token="{token}"><ATTR_DOM name="x" type="1"/></ADD_ATTRIBUTE>') == "OutOfScope"


def test_anothers_subscriptions_are_not_there(daemon: Served, ann: Speaker) -> None:
    eve = Speaker(daemon, "eve")
    id = posted(ann, CARS)
    event = ann.ok(CAR.replace("{more}", ""))
    daemon.commit([(int(event["position"]), [id])])
    assert eve.refused(f'<DELETE_SUB id="{id}" token="{{token}}"/>') == "NoSuchSubscription"
    assert eve.refused(f'<LIST_EVENTS id="{id}" token="{{token}}"/>') == "NoSuchSubscription"
    for request in ("LIST_SUBS", "LIST_EVENTS"):
        assert eve.ask(f'<{request} token="{{token}}"/>').find(".//PUBLISH_SUB") is None
        assert ann.ask(f'<{request} token="{{token}}"/>').find(".//PUBLISH_SUB").get("id") == id


@on_sqlite
def test_guests_where_the_setting_allows_it(url: str) -> None:  # thesis 5.4
    with served(url, guests=True) as daemon:
        client = daemon.client()
        assert client.ask(CAR.replace(' token="{token}"', "").replace("{more}", "")).tag == "OK"
        assert client.ask('<ADD_ATTRIBUTE><ATTR_DOM name="wings" type="2"/></ADD_ATTRIBUTE>').tag == "OK"
        refused = client.ask('<PUBLISH_SUB username="ann"><FILTER>price &lt; 3</FILTER></PUBLISH_SUB>')
        assert refused.get("name") == "NoToken"


@on_sqlite
def test_an_event_that_breaks_rules_names_them_all(ann: Speaker) -> None:
    answer = ann.ask(
        '<PUBLISH_EVENT contact="x" token="{token}"><EVENT_TYPE><VALUE type="car"/></EVENT_TYPE><ATTRIBUTES>'
        '<ATTR type="brand">cooper</ATTR><ATTR type="price">3</ATTR></ATTRIBUTES></PUBLISH_EVENT>'
    )
    assert answer.get("name") == "RefusedEvent"
    broken = {(one.get("rule"), one.get("attribute")) for one in answer.iterfind("BROKEN")}
    assert broken == {("domain", "brand"), ("view", "price"), ("mandatory", "year")}
    assert all(one.text for one in answer.iterfind("BROKEN"))


@on_sqlite
def test_several_values_and_several_types(daemon: Served, ann: Speaker) -> None:
    ann.ok(
        '<PUBLISH_EVENT token="{token}" id="e" time="2026-05-01T10:00:00+02:00"><EVENT_TYPE><VALUE type="car"/>'
        '<VALUE type="auction"/></EVENT_TYPE><ATTRIBUTES><ATTR type="paint">red</ATTR><ATTR type="paint">blue</ATTR>'
        '<ATTR type="paint">42</ATTR><ATTR type="brand">mini</ATTR><ATTR type="year"> 1970 </ATTR>'
        '<ATTR type="price">1.3e3</ATTR><ATTR type="title">a &lt;b&gt; <![CDATA[& c]]></ATTR>'
        '<ATTR type="category">car</ATTR><ATTR type="ends">2026-05-02</ATTR></ATTRIBUTES></PUBLISH_EVENT>'
    )
    *_, entry = daemon.store.entries()
    assert '"paint":["red","blue","42"]' in entry.body
    assert '"year":1970' in entry.body
    assert '"price":1300' in entry.body
    assert '"title":"a <b> & c"' in entry.body
    assert '"time":"2026-05-01T08:00:00Z"' in entry.body


@on_sqlite
def test_contains_means_any_of_the_words(daemon: Served, ann: Speaker) -> None:  # semantics 6
    contains = '<ATTRIBUTES><ATTR type="{}" oper="contains">{}</ATTR></ATTRIBUTES>'
    assert daemon.store.subscription(posted(ann, contains.format("title", "Red mini"))).filter == (
        "title contains any 'red mini'"
    )
    assert daemon.store.subscription(posted(ann, contains.format("title", "Red!"))).filter == "title contains 'red'"
    assert daemon.store.subscription(posted(ann, contains.format("year", "1970"))).filter == "year contains 1970"


@on_sqlite
def test_a_filter_in_our_language_with_an_expiry_and_warnings(daemon: Served, ann: Speaker) -> None:
    answer = ann.ask(
        '<PUBLISH_SUB username="ann" token="{token}" expiry="2999-01-01T00:00:00Z">'
        "<FILTER>not (paint = 'red') or price between 3 and 5</FILTER></PUBLISH_SUB>"
    )
    assert answer.findtext("WARNING")
    (sub,) = ann.ask('<LIST_SUBS token="{token}"/>').iterfind(".//PUBLISH_SUB")
    assert sub.findtext("FILTER") == "not (paint = 'red') or price between 3 and 5"
    assert (sub.get("id"), sub.get("expiry")) == (answer.get("id"), "2999-01-01T00:00:00Z")


@on_sqlite
def test_subscriptions_by_pages(ann: Speaker) -> None:
    ids = {posted(ann, CARS) for _ in range(5)}
    found: list[str] = []
    after: str | None = ""
    while after is not None:
        page = ann.ask(f'<LIST_SUBS token="{{token}}" limit="2" after="{after}"/>')
        found += [sub.get("id") for sub in page.iterfind(".//PUBLISH_SUB")]
        after = page.get("next")
    assert len(found) == 5
    assert set(found) == ids
    for limit in ("0", "1001", "two"):
        assert ann.refused(f'<LIST_SUBS token="{{token}}" limit="{limit}"/>') == "InvalidRequest"


@on_sqlite
def test_matched_events_by_pages(daemon: Served, ann: Speaker) -> None:
    one, other = posted(ann, CARS), posted(ann, CARS)
    positions = [int(ann.ok(CAR.replace("{more}", ""))["position"]) for _ in range(5)]
    daemon.commit([(position, [one, other]) for position in positions])
    seen: list[tuple[str, int]] = []
    after = "0"
    while True:
        page = ann.ask(f'<LIST_EVENTS token="{{token}}" limit="3" after="{after}"/>')
        got = [
            (sub.get("id"), int(event.get("position")))
            for sub in page.iterfind(".//PUBLISH_SUB")
            for event in sub.iterfind("EVENTS/PUBLISH_EVENT")
        ]
        if not got:
            break
        assert len(got) <= 3
        seen += got
        after = page.get("next")
    assert sorted(seen) == sorted((id, position) for id in (one, other) for position in positions)
    alone = ann.ask(f'<LIST_EVENTS token="{{token}}" id="{one}"/>')
    assert [sub.get("id") for sub in alone.iterfind(".//PUBLISH_SUB")] == [one]
    assert len(alone.findall(".//PUBLISH_EVENT")) == 5


@on_sqlite
def test_what_a_withdrawn_subscription_found_stays(daemon: Served, ann: Speaker) -> None:
    id, silent = posted(ann, CARS), posted(ann, CARS)
    position = int(ann.ok(CAR.replace("{more}", ""))["position"])
    daemon.commit([(position, [id])])
    for one in (id, silent):
        ann.ok(f'<DELETE_SUB token="{{token}}" id="{one}"/>')
    listed = ann.ask(f'<LIST_EVENTS token="{{token}}" id="{id}"/>')
    assert [one.get("position") for one in listed.iterfind(".//PUBLISH_EVENT")] == [str(position)]
    assert ann.refused(f'<LIST_EVENTS token="{{token}}" id="{silent}"/>') == "NoSuchSubscription"
    assert Speaker(daemon, "bob").refused(f'<LIST_EVENTS token="{{token}}" id="{id}"/>') == "NoSuchSubscription"


@on_sqlite
def test_events_are_counted(daemon: Served, ann: Speaker) -> None:
    for more in (' id="e1"', ' id="e1"', ' colour="red"'):
        ann.ask(CAR.replace("{more}", more))
    assert ann.refused(CAR.replace("{more}", "").replace("year", "yeer"))
    assert daemon.gateway.published == {"accepted": 1, "duplicate": 1, "refused": 2}


@on_sqlite
def test_what_a_composite_found_has_its_constituents(daemon: Served, ann: Speaker) -> None:
    id = posted(ann, "<COMPOSITE>[year &lt; 1980] before [year &lt; 1980] within 1 h</COMPOSITE>")
    for one in ("e1", "e2"):
        ann.ok(CAR.replace("{more}", f' id="{one}"'))
    three_detections(daemon.store, id, "ann", "e1", "e2")
    pair, silence, half = ann.ask('<LIST_EVENTS token="{token}"/>').iterfind(".//PUBLISH_EVENT")
    (found,) = pair.findall("DETECTION")
    assert (pair.get("id"), found.get("time"), found.get("expired")) == ("e2", str(T2), None)
    assert [key.text for key in found.iterfind("KEY")] == ["mini", "5"]
    assert [dict(one.attrib) for one in found.iterfind("CONSTITUENT")] == [
        {"id": "e1", "source": "", "time": str(T1)},
        {"id": "e2", "source": "", "time": str(T2)},
    ]
    assert list(silence.attrib) == ["matched_at"], "there was no event, so none was removed"
    assert silence.find("DETECTION").findall("CONSTITUENT") == []
    assert half.find("DETECTION").get("expired") == "[year > 0]"
