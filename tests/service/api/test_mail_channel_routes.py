"""Mail as a channel over HTTP: asked for, agreed to by the link of a mail, ended by another; a real mail server."""

import re
from collections.abc import Iterator
from dataclasses import replace

import httpx
import pytest

from tests.notifying.smtp_sink import Sink
from tests.service.conftest import SETTINGS, Service, on_sqlite
from tests.service.delivering import FILTER, find, send, subscribed
from tests.service.receiver import mail_sink
from tidings.settings import Settings


class TestMail:
    @pytest.fixture
    def mail(self) -> Iterator[tuple[Sink, int]]:
        with mail_sink() as running:
            yield running

    @pytest.fixture
    def settings(self, mail: tuple[Sink, int]) -> Settings:
        return replace(SETTINGS, smtp_host="127.0.0.1", smtp_port=mail[1], mail_from="tidings@example.org")

    def link(self, sink: Sink, purpose: str) -> str:
        """The path of the last mail's link."""
        body = sink.last.get_body(("plain",))
        assert body is not None
        found = re.search(rf"https?://\S+?(/{purpose}/\S+)", body.get_content())
        assert found, body.get_content()
        return found[1]

    @on_sqlite
    def test_from_the_mail_that_asks_to_the_one_click_that_ends_it(
        self, service: Service, client: httpx.Client, mail: tuple[Sink, int]
    ) -> None:
        sink, _ = mail
        made = subscribed(client, kind="email", address="bob@EXAMPLE.org")
        assert made["channel"] == {"kind": "email", "address": "bob@example.org"}
        assert made["channel_state"] == "unconfirmed"
        assert "bob@example.org" in made["confirm"]
        find(service, made["id"])
        send(service)
        assert len(sink.mails) == 1  # only the one that asks
        assert client.post(f"/v1/subscriptions/{made['id']}/test-delivery").status_code == 409
        anybody = service.anonymous()
        path = self.link(sink, "confirm")
        page = anybody.get(path)
        assert page.headers["content-type"] == "text/html; charset=utf-8"
        assert "<button" in page.text
        assert "form-action 'self'" in page.headers["content-security-policy"]
        send(service)
        assert len(sink.mails) == 1  # a scanner that follows links confirms nothing
        assert anybody.post(path).status_code == 200
        send(service)
        assert len(sink.mails) == 2
        assert sink.last["To"] == "bob@example.org"
        path = self.link(sink, "unsubscribe")
        assert "<button" in anybody.get(path).text
        one_click = {"Content-Type": "application/x-www-form-urlencoded"}
        for _ in range(2):
            done = anybody.post(path, content="List-Unsubscribe=One-Click", headers=one_click)
            assert done.status_code == 200
        assert client.get(f"/v1/subscriptions/{made['id']}/channel").json()["state"] == "disabled"
        find(service, made["id"], name="e2")
        send(service)
        assert len(sink.mails) == 2
        assert client.post(f"/v1/subscriptions/{made['id']}/test-delivery").status_code == 409
        # The owner cannot start it again alone: whoever reads the mails is asked.
        assert client.post(f"/v1/subscriptions/{made['id']}/channel/resume").json()["state"] == "unconfirmed"
        assert len(sink.mails) == 3
        anybody.post(self.link(sink, "confirm"))
        send(service)
        assert len(sink.mails) == 4

    @on_sqlite
    def test_links_that_do_not_hold(self, service: Service, client: httpx.Client, mail: tuple[Sink, int]) -> None:
        sink, _ = mail
        anybody = service.anonymous()
        assert anybody.get("/confirm/x.y").status_code == 404  # before any key was made
        made = subscribed(client, kind="email", address="bob@example.org")
        path = self.link(sink, "confirm")
        forged = path[:-3] + ("AAA" if not path.endswith("AAA") else "BBB")
        for method in ("GET", "POST"):
            answer = anybody.request(method, forged)
            assert (answer.status_code, answer.json()["type"]) == (404, "/problems/invalid-link")
            other = anybody.request(method, path.replace("/confirm/", "/unsubscribe/"))
            assert (other.status_code, other.json()["type"]) == (404, "/problems/invalid-link")
        shown = anybody.get(forged, headers={"Accept": "text/html"})
        assert (shown.status_code, shown.headers["content-type"]) == (404, "text/html; charset=utf-8")
        client.patch(f"/v1/subscriptions/{made['id']}", json={"channel": {"kind": "email", "address": "c@example.org"}})
        for method in ("GET", "POST"):
            outdated = anybody.request(method, path)
            assert (outdated.status_code, outdated.json()["type"]) == (410, "/problems/link-expired")
        assert client.get(f"/v1/subscriptions/{made['id']}/channel").json()["state"] == "unconfirmed"

    @on_sqlite
    def test_nobody_can_be_flooded_with_questions(
        self, service: Service, client: httpx.Client, mail: tuple[Sink, int]
    ) -> None:
        sink, _ = mail
        body = {"filter": FILTER, "channel": {"kind": "email", "address": "bob@example.org"}}
        statuses = [client.post("/v1/subscriptions", json=body).status_code for _ in range(5)]
        assert statuses == [201, 201, 201, 429, 429]
        assert len(sink.mails) == 3
        assert len(client.get("/v1/subscriptions").json()["items"]) == 3

    @on_sqlite
    def test_a_mail_server_that_refuses_is_told_and_tried_again(
        self, service: Service, client: httpx.Client, mail: tuple[Sink, int]
    ) -> None:
        sink, _ = mail
        sink.answers["RCPT"] = ["451 later"]
        made = subscribed(client, kind="email", address="bob@example.org")
        assert "451" in made["confirm"]
        sink.answers.clear()
        assert client.post(f"/v1/subscriptions/{made['id']}/channel/resume").json()["state"] == "unconfirmed"
        assert len(sink.mails) == 1


@on_sqlite
@pytest.mark.parametrize("purpose", ["confirm", "unsubscribe"])
def test_a_forged_link_is_refused_in_the_documented_forms(service: Service, purpose: str) -> None:
    anybody = service.anonymous()
    documented = anybody.get("/openapi.json").json()["paths"][f"/{purpose}/{{token}}"]["get"]["responses"]["404"]
    given = set()
    for accepted in ("text/html", "application/json"):
        answer = anybody.get(f"/{purpose}/forged", headers={"Accept": accepted})
        assert answer.status_code == 404
        given.add(answer.headers["content-type"].partition(";")[0])
    assert given == documented["content"].keys() == {"text/html", "application/problem+json"}
