"""Many requests on one connection, wrong ones among them, other encodings, and `nc`."""

import subprocess

from tests.service.conftest import on_sqlite
from tests.service.xml_served import CAR, Served, Speaker
from tests.services.missing import need
from tidings.schema.dtd import FILES
from tidings.service.door.scopes import XML


@on_sqlite
def test_requests_in_other_encodings(daemon: Served, ann: Speaker) -> None:
    text = (
        '<?xml version="1.0" encoding="ISO-8859-1"?><PUBLISH_EVENT token="' + ann.token + '"><EVENT_TYPE>'
        '<VALUE type="car"/></EVENT_TYPE><ATTRIBUTES><ATTR type="brand">opel</ATTR><ATTR type="year">1</ATTR>'
        '<ATTR type="paint">café</ATTR></ATTRIBUTES></PUBLISH_EVENT>'
    )
    assert ann.client.ask(text.encode("iso-8859-1")).tag == "OK"
    *_, entry = daemon.store.entries()
    assert "café" in entry.body
    refused = ann.client.ask(text.replace("ISO-8859-1", "us-ascii").encode("iso-8859-1"))
    assert refused.get("name") == "MalformedRequest"
    assert ann.client.answer() is None


def test_pipelining_a_thousand(daemon: Served, ann: Speaker) -> None:
    texts = [CAR.format(token=ann.token, more=f' id="e{number}"') for number in range(1000)]
    texts[500] = texts[500].replace("opel", "ople")
    texts[600] = texts[1]
    ann.client.send("\n".join(texts))
    answers = [ann.client.answer() for _ in range(1000)]
    assert [answer.get("id") for answer in answers if answer.tag == "OK"] == [
        "e1" if number == 600 else f"e{number}" for number in range(1000) if number != 500
    ]
    assert answers[500].get("name") == "RefusedEvent"
    assert answers[600].get("duplicate") == "true"
    positions = [int(a.get("position")) for n, a in enumerate(answers) if n not in (500, 600)]
    assert positions == sorted(positions)
    assert daemon.store.tail() == positions[-1]


@on_sqlite
def test_requests_in_one_piece_see_what_those_before_did(ann: Speaker) -> None:
    uses = "".join(f'<E_ATTR mandatory="true" unique="true" type="{name}"/>' for name in ("brand", "year"))
    ann.client.send(
        CAR.format(token=ann.token, more="")
        + f'<ADD_ATTRIBUTE token="{ann.token}"><ATTR_DOM name="keel" type="1"/></ADD_ATTRIBUTE>'
        + f'<ADD_EVENT token="{ann.token}"><E_TYPE type="boat">{uses}'
        + '<E_ATTR mandatory="false" unique="true" type="keel"/></E_TYPE></ADD_EVENT>'
        + CAR.format(token=ann.token, more="").replace('"car"', '"boat"')
        + f'<PUBLISH_SUB username="ann" token="{ann.token}"><FILTER>keel &gt; 1</FILTER></PUBLISH_SUB>'
        + f'<LIST_SUBS token="{ann.token}"/>'
    )
    answers = [ann.client.answer() for _ in range(6)]
    assert [answer.get("request") for answer in answers] == [
        "PUBLISH_EVENT", "ADD_ATTRIBUTE", "ADD_EVENT", "PUBLISH_EVENT", "PUBLISH_SUB", "LIST_SUBS",
    ]  # fmt: skip
    assert [answer.tag for answer in answers] == ["OK"] * 5 + ["USER_LOG"]
    assert answers[5].find(".//PUBLISH_SUB").get("id") == answers[4].get("id")


@on_sqlite
def test_a_wrong_request_is_answered_and_the_connection_goes_on(ann: Speaker) -> None:
    assert ann.refused("<PUBLISH_EVENT/>") == "NoToken"
    assert ann.refused('<PUBLISH_EVENT token="{token}"/>') in ("RefusedEvent", "InvalidRequest")
    assert ann.refused('<LIST_SUBS token="{token}" colour="red"/>') == "InvalidRequest"
    assert ann.refused('<LIST_SUBS token="{token}"><X/></LIST_SUBS>') == "InvalidRequest"
    ann.ok(CAR.replace("{more}", ""))


@on_sqlite
def test_after_what_is_no_xml_the_connection_is_closed(ann: Speaker) -> None:
    ann.client.send(CAR.format(token=ann.token, more=' id="before"') + "<A><B></A></B>" + "<LIST_SUBS/>")
    assert ann.client.answer().get("id") == "before"
    assert ann.client.answer().get("name") == "MalformedRequest"
    assert ann.client.answer() is None


@on_sqlite
def test_closing_answers_what_was_asked(daemon: Served, ann: Speaker) -> None:
    ann.ok(CAR.replace("{more}", ""))
    ann.client.send("".join(CAR.format(token=ann.token, more=f' id="c{n}"') for n in range(300)))
    first = ann.client.answer()
    daemon.stop_soon()
    answered = 1 if first.tag == "OK" else 0
    while (answer := ann.client.answer()) is not None:
        assert answer.tag == "OK"
        answered += 1
    daemon.stop()
    kept = sum(1 for entry in daemon.store.entries() if entry.kind == "event")
    assert kept == answered + 1
    assert answered > 1


@on_sqlite
def test_with_nc(daemon: Served, ann: Speaker) -> None:
    need("nc", "netcat-openbsd")
    text = CAR.format(token=ann.token, more=' id="by-nc"')
    ran = subprocess.run(
        ["nc", "-w", "2", "127.0.0.1", str(daemon.port)],
        input=text.encode(),
        capture_output=True,
        timeout=30,
        check=False,
    )
    assert b'id="by-nc"' in ran.stdout


def test_every_request_has_its_dtd() -> None:
    assert set(XML) == set(FILES)
