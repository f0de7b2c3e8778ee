"""Channels over HTTP: asked for, agreed to, paused, rotated; with a real receiver and a real mail server."""

import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.service.conftest import PASSWORD, SETTINGS, Service, on_sqlite
from tests.service.delivering import FILTER, deliver, find, send, subscribed
from tests.service.receiver import Receiver, receiver
from tidings.notifying.signatures import WrongSignature
from tidings.settings import Settings
from tidings.store.clock.clock import OFFSET_FILE
from tidings.store.databases.database import Database


@pytest.fixture
def hook() -> Iterator[Receiver]:
    with receiver() as running:
        yield running


@pytest.fixture
def settings() -> Settings:
    return replace(SETTINGS, allow_loopback_webhooks=True, host="127.0.0.1", public_url="https://tidings.example")


def test_a_webhook_from_its_making_to_the_signed_notification(
    service: Service, client: httpx.Client, hook: Receiver
) -> None:
    made = subscribed(client, kind="webhook", url=hook.url, rate={"count": 10, "seconds": 1})
    assert made["channel"] == {"kind": "webhook", "url": hook.url, "rate": {"count": 10, "seconds": 1}}
    assert made["channel_state"] == "active"
    assert made["secret"].startswith("whsec_")
    assert hook.origins == ["tidings.example"]
    again = client.get(f"/v1/subscriptions/{made['id']}").json()
    assert "secret" not in again  # shown once
    assert again["channel"] == made["channel"]
    assert service.store.subscription(made["id"]).delivery == "webhook"  # no address in the journal
    find(service, made["id"])
    send(service)
    (received,) = hook.wait(1)
    received.verify(made["secret"])
    assert received.json["subscription"] == made["id"]
    assert received.json["sequence"] == 1
    assert received.json["event"]["id"] == "e1"
    (listed,) = client.get("/v1/subscriptions").json()["items"]
    assert listed == again


@on_sqlite
def test_a_receiver_that_does_not_agree_gets_nothing_until_it_does(
    service: Service, client: httpx.Client, hook: Receiver
) -> None:
    hook.consents = ""
    made = subscribed(client, kind="webhook", url=hook.url)
    assert made["channel_state"] == "unconfirmed"
    assert "WebHook-Allowed-Origin" in made["confirm"]
    find(service, made["id"])
    send(service)
    assert hook.received == []
    path = f"/v1/subscriptions/{made['id']}"
    refused = client.post(f"{path}/test-delivery")
    assert (refused.status_code, refused.json()["type"]) == (409, "/problems/channel-unconfirmed")
    paused = client.post(f"{path}/channel/pause")  # else to resume would be a way around
    assert (paused.status_code, paused.json()["type"]) == (409, "/problems/channel-unconfirmed")
    assert client.post(f"{path}/channel/resume").json()["state"] == "unconfirmed"
    hook.consents = "tidings.example"
    assert client.post(f"{path}/channel/resume").json()["state"] == "active"
    send(service)
    assert len(hook.wait(1)) == 1


@on_sqlite
def test_without_a_handshake_nobody_is_asked(service: Service, client: httpx.Client, hook: Receiver) -> None:
    hook.consents = ""
    service.gateway.settings = replace(service.settings, webhook_handshake="none")
    assert subscribed(client, kind="webhook", url=hook.url)["channel_state"] == "active"
    assert hook.origins == []


@on_sqlite
@pytest.mark.parametrize(
    ("channel", "kind"),
    [
        ({"kind": "webhook", "url": "https://10.0.0.1/hook"}, "unsafe-address"),
        ({"kind": "webhook", "url": "https://[::ffff:10.0.0.1]/hook"}, "unsafe-address"),
        ({"kind": "webhook", "url": "https://167772161/"}, "unsafe-address"),
        ({"kind": "webhook", "url": "ftp://example.org"}, "invalid-url"),
        ({"kind": "webhook", "url": "https://127.0.0.1", "address": "a@example.org"}, "invalid-url"),
        ({"kind": "webhook", "url": 5}, "invalid-body"),
        ({"kind": "webhook", "url": "https://127.0.0.1", "secret": "x"}, "invalid-body"),
        ({"kind": "email", "address": "ann@example.org"}, "email-not-offered"),
        ({"kind": "apprise", "url": "file:///etc/passwd"}, "invalid-apprise-url"),
        ({"kind": "stored", "quiet": {"from": "22:00", "to": "07:00", "zone": "Nowhere"}}, "invalid-digest"),
        ({"kind": "stored", "digest": {"count": 1}}, "invalid-digest"),
        ({"kind": "webhok"}, "unknown-channel"),
    ],
)
def test_what_cannot_be_is_refused_and_nothing_stands(
    service: Service, client: httpx.Client, channel: dict[str, Any], kind: str
) -> None:
    tail = service.store.tail()
    answer = client.post("/v1/subscriptions", json={"filter": FILTER, "channel": channel})
    assert (answer.status_code, answer.json()["type"]) == (422, f"/problems/{kind}"), answer.text
    path = client.post("/v1/subscriptions", json={"filter": FILTER}).headers["location"]
    assert client.patch(path, json={"channel": channel}).status_code == 422
    assert client.get(path).json()["channel"] == {"kind": "stored"}
    assert service.store.tail() == tail + 1


class TestWithoutTheOptIn:
    @pytest.fixture
    def settings(self) -> Settings:
        return SETTINGS

    @on_sqlite
    def test_loopback_is_refused(self, service: Service, client: httpx.Client, hook: Receiver) -> None:
        for url in (hook.url, hook.url.replace("http:", "https:"), f"https://localhost:{hook.port}/"):
            answer = client.post(
                "/v1/subscriptions", json={"filter": FILTER, "channel": {"kind": "webhook", "url": url}}
            )
            assert answer.status_code == 422, answer.text
        assert hook.origins == []


@on_sqlite
def test_an_edit_keeps_what_it_does_not_change(service: Service, client: httpx.Client, hook: Receiver) -> None:
    made = subscribed(client, kind="webhook", url=hook.url)
    path = f"/v1/subscriptions/{made['id']}"
    client.post(f"{path}/channel/pause")
    new = {"kind": "webhook", "url": hook.url, "digest": {"count": 2, "seconds": 60}}
    changed = client.patch(path, json={"channel": new}).json()
    assert (changed["channel"], changed["channel_state"]) == (new, "paused")
    assert "secret" not in changed
    assert hook.origins == ["tidings.example"]  # the same place is not asked again
    client.post(f"{path}/channel/resume")
    for name in ("e1", "e2"):
        find(service, made["id"], name=name)
    send(service)
    (received,) = hook.wait(1)
    received.verify(made["secret"])
    assert [one["sequence"] for one in received.json["notifications"]] == [1, 2]
    elsewhere = client.patch(path, json={"channel": {"kind": "webhook", "url": f"{hook.url}/2"}}).json()
    assert hook.origins == ["tidings.example"] * 2
    assert elsewhere["channel"] == {"kind": "webhook", "url": f"{hook.url}/2"}
    assert client.patch(path, json={"channel": {"kind": "stored"}}).json()["channel"] == {"kind": "stored"}
    assert client.get(f"{path}/channel").json() == {"kind": "stored", "state": "active"}
    find(service, made["id"], name="e3")
    send(service)
    assert len(hook.received) == 1
    for what in ("pause", "resume", "rotate-secret"):
        assert client.post(f"{path}/channel/{what}").json()["type"] == "/problems/no-such-channel"


@on_sqlite
def test_both_secrets_sign_for_a_day(service: Service, client: httpx.Client, hook: Receiver) -> None:
    made = subscribed(client, kind="webhook", url=hook.url)
    rotated = client.post(f"/v1/subscriptions/{made['id']}/channel/rotate-secret").json()
    assert rotated["secret"].startswith("whsec_")
    assert rotated["secret"] != made["secret"]
    find(service, made["id"])
    send(service)
    (received,) = hook.wait(1)
    for secret in (made["secret"], rotated["secret"]):
        received.verify(secret)
    channel = service.store.channel(made["id"], "tester")
    assert channel is not None
    ((_, newest), (_, old)) = channel.secrets
    assert (newest, str(old)) == (None, rotated["old_until"])
    for _ in range(9):
        last = client.post(f"/v1/subscriptions/{made['id']}/channel/rotate-secret").json()
    find(service, made["id"], name="e2")
    send(service)
    received = hook.wait(2)[-1]
    received.verify(last["secret"])
    with pytest.raises(WrongSignature):
        received.verify(made["secret"])  # more than five at once are too many


@on_sqlite
def test_pausing_keeps_and_resuming_sends(service: Service, client: httpx.Client, hook: Receiver) -> None:
    made = subscribed(client, kind="webhook", url=hook.url)
    path = f"/v1/subscriptions/{made['id']}/channel"
    assert client.post(f"{path}/pause").json()["state"] == "paused"
    assert client.post(f"{path}/pause").status_code == 200
    find(service, made["id"])
    send(service)
    assert hook.received == []
    assert client.post(f"{path}/resume").json()["state"] == "active"
    send(service)
    assert len(hook.wait(1)) == 1


@on_sqlite
def test_what_is_owed_when_a_subscription_is_withdrawn_is_sent(
    service: Service, client: httpx.Client, hook: Receiver
) -> None:
    made = subscribed(client, kind="webhook", url=hook.url)
    find(service, made["id"])
    deliver(service)
    assert client.delete(f"/v1/subscriptions/{made['id']}").status_code == 200
    send(service)
    assert len(hook.wait(1)) == 1
    listed = client.get(f"/v1/subscriptions/{made['id']}/deliveries").json()["items"]
    assert [one["state"] for one in listed] == ["delivered"]


@on_sqlite
def test_a_repeat_under_the_same_key_is_told_the_same_secret(
    service: Service, client: httpx.Client, hook: Receiver
) -> None:
    body = {"filter": FILTER, "channel": {"kind": "webhook", "url": hook.url}}
    answers = [client.post("/v1/subscriptions", json=body, headers={"Idempotency-Key": "k1"}) for _ in range(2)]
    assert answers[0].json() == answers[1].json()
    with service.store.database.writing() as connection:  # as after a crash before the answer was kept
        connection.exec_driver_sql("DELETE FROM kept_responses")
    repeated = client.post("/v1/subscriptions", json=body, headers={"Idempotency-Key": "k1"}).json()
    assert repeated == answers[0].json()
    assert len(client.get("/v1/subscriptions").json()["items"]) == 1


@on_sqlite
def test_a_repeat_is_told_the_secret_of_a_channel_whose_subscription_was_refused(
    service: Service, client: httpx.Client, hook: Receiver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = {"filter": FILTER, "channel": {"kind": "webhook", "url": hook.url}}
    (tmp_path / "offset").write_text("86400")
    with monkeypatch.context() as wrong_clock:  # then the journal takes nothing
        wrong_clock.setenv(OFFSET_FILE, str(tmp_path / "offset"))
        refused = client.post("/v1/subscriptions", json=body, headers={"Idempotency-Key": "k2"})
        assert (refused.status_code, refused.json()["type"]) == (503, "/problems/clock-jumped")
    made = client.post("/v1/subscriptions", json=body, headers={"Idempotency-Key": "k2"}).json()
    find(service, made["id"])
    send(service)
    hook.wait(1)[0].verify(made["secret"])


@on_sqlite
def test_one_that_is_gone_is_disabled_with_a_notice_and_seen_by_operators(
    service: Service, client: httpx.Client, hook: Receiver
) -> None:
    hook.status = 410
    made = subscribed(client, kind="webhook", url=hook.url)
    find(service, made["id"])
    send(service)
    channel = client.get(f"/v1/subscriptions/{made['id']}/channel").json()
    assert (channel["state"], channel["sequence"]) == ("disabled", 1)
    assert "410" in channel["reason"]
    page = client.get("/v1/notices").json()
    assert [one["subscription"] for one in page["items"]] == [made["id"]]
    assert page["items"][0]["seen"] is False
    assert client.post("/v1/notices/seen", json={"upto": page["next"]}).status_code == 204
    assert client.get("/v1/notices").json()["items"][0]["seen"] is True
    assert client.get("/v1/notices", params={"after": page["next"]}).json()["items"] == []
    ann = service.joined("ann")
    assert ann.get("/v1/notices").json()["items"] == []
    assert client.get("/v1/operator/channels").status_code == 403
    service.store.change_account("ann", scopes=frozenset({"operate", "subscribe"}))
    log_in = {"username": "ann", "password": PASSWORD}
    token = service.anonymous().post("/v1/tokens", json=log_in).json()["token"]
    (troubled,) = ann.get("/v1/operator/channels", headers={"Authorization": f"Bearer {token}"}).json()["items"]
    assert (troubled["owner"], troubled["state"]) == ("tester", "disabled")
    assert troubled["destination"] == f"127.0.0.1:{hook.port}"
    hook.status = 200
    assert client.post(f"/v1/subscriptions/{made['id']}/channel/resume").json()["state"] == "active"
    find(service, made["id"], name="e2")
    send(service)
    assert hook.wait(2)[1].json["event"]["id"] == "e2"


@on_sqlite
def test_what_changes_channels_waits_with_the_writers(
    service: Service, client: httpx.Client, hook: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A lock of the database must not keep readers waiting."""
    threads: set[str] = set()
    writing = Database.writing

    def noted(database: Database, *rest: Any) -> Any:
        threads.add(threading.current_thread().name.rpartition("_")[0])
        return writing(database, *rest)

    made = subscribed(client, kind="webhook", url=hook.url)
    path = f"/v1/subscriptions/{made['id']}"
    find(service, made["id"])
    send(service)
    monkeypatch.setattr(Database, "writing", noted)
    steps: list[tuple[str, str, Any]] = [
        ("POST", f"{path}/channel/pause", None),
        ("POST", f"{path}/channel/resume", None),
        ("POST", f"{path}/channel/rotate-secret", None),
        ("POST", f"{path}/replay", {"from": 1}),
        ("POST", "/v1/notices/seen", {"upto": "1"}),
        ("PATCH", path, {"channel": {"kind": "webhook", "url": f"{hook.url}/elsewhere"}}),
        ("PATCH", path, {"channel": {"kind": "stored"}}),
    ]
    for method, where, body in steps:
        threads.clear()
        answer = client.request(method, where, json=body)
        assert answer.status_code < 300, answer.text
        writer = "tidings-journal" if method == "PATCH" else "tidings-writing"  # with the subscription, in its entry
        assert threads == {writer}, (method, where)


TOKEN = "123456789:abcdefg_hijklmnop-qrstuvwxyz"


@on_sqlite
def test_an_apprise_url_is_shown_nowhere(service: Service, client: httpx.Client) -> None:
    channel = {"kind": "apprise", "url": f"tgram://{TOKEN}/12315544"}
    made = client.post("/v1/subscriptions", json={"filter": "price > 1", "channel": channel})
    assert made.status_code == 201, made.text
    id = made.json()["id"]
    service.store.change_channel(id, "tester", state="disabled", reason="it failed")
    service.joined("ann")
    service.store.change_account("ann", scopes=frozenset({"operate"}))
    token = service.anonymous().post("/v1/tokens", json={"username": "ann", "password": PASSWORD}).json()["token"]
    operator = {"Authorization": f"Bearer {token}"}
    seen = [
        made,
        client.get(f"/v1/subscriptions/{id}"),
        client.get("/v1/subscriptions"),
        client.get(f"/v1/subscriptions/{id}/channel"),
        client.get(f"/pages/subscriptions/{id}/channel"),
        client.get("/v1/operator/channels", headers=operator),
    ]
    for answer in seen:
        assert answer.status_code < 300, answer.text
        assert TOKEN not in answer.text
        assert "abcdefg" not in answer.text
    assert client.get(f"/v1/subscriptions/{id}").json()["channel"]["url"] == "tgram://…"


@on_sqlite
def test_an_apprise_url_that_is_sent_back_as_it_was_shown_is_kept(service: Service, client: httpx.Client) -> None:
    url = f"tgram://{TOKEN}/12315544"
    id = client.post(
        "/v1/subscriptions", json={"filter": "price > 1", "channel": {"kind": "apprise", "url": url}}
    ).json()["id"]
    shown = client.get(f"/v1/subscriptions/{id}").json()["channel"]
    changed = client.patch(f"/v1/subscriptions/{id}", json={"channel": {**shown, "rate": {"count": 1, "seconds": 60}}})
    assert changed.status_code == 200, changed.text
    found = service.store.channel(id, "tester")
    assert found is not None
    assert found.settings["url"] == url
    assert found.settings["rate"] == {"count": 1, "seconds": 60}
    other = client.patch(f"/v1/subscriptions/{id}", json={"channel": {"kind": "apprise", "url": "slack://…"}})
    assert other.status_code == 422
