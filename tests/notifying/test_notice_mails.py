"""Owners are told by mail of a channel that was disabled: once, where it works, over a kill, and never in a loop."""

import asyncio
import email
from collections.abc import Callable
from dataclasses import replace

import pytest

from tests.notifying.owing import GONE, OK, OWNER, Recorder, find, play, send_all, settled, with_channels
from tests.notifying.smtp_sink import NOW, Sink, channel_to
from tests.store.samples import START, Clock
from tidings.notifying.delivery import Attempt
from tidings.notifying.mail.notice_text import notice_mail
from tidings.notifying.outbox.outbox import Outbox
from tidings.notifying.outbox.schedule import WAITS
from tidings.schema import Instant
from tidings.store import DueNotice, LeaseLost, Store, StoredChannel, Subscribe

REFUSED = Attempt(False, 0.1, "SMTP", 550, "5.1.1 no such user", "refused", gone=True)


class Mailbox:
    """Takes notices and answers as set."""

    def __init__(self, answer: Callable[[], Attempt] = lambda: OK) -> None:
        self.answer = answer
        self.mailed: list[DueNotice] = []

    async def mail_notice(self, notice: DueNotice, now: Instant) -> Attempt:
        self.mailed.append(notice)
        return self.answer()


def with_mail(store: Store, id: str, address: str, state: str = "active") -> None:
    store.set_channel(StoredChannel(id, OWNER, "email", {"address": address}, state=state))  # type: ignore[arg-type]
    store.append([Subscribe(id, "price < 100", OWNER, delivery="email")])  # refused where it is there


def turned(store: Store, channel: Recorder, clock: Clock, mailbox: Mailbox, holder: str = "one") -> None:
    """An outbox that looks for notices too, until nothing is left to do now."""
    kinds = {"record": channel, "email": replace(channel, kind="email")}
    outbox = Outbox(store, kinds, clock, lambda: 0.5, holder=holder, mail_notice=mailbox.mail_notice)

    async def tell() -> None:
        for _ in range(3):
            await settled(outbox)
            clock.tick(1)
        await settled(outbox)

    play(outbox, tell())


def disabled(store: Store, clock: Clock, *ids: str) -> Recorder:
    """Channels that are about to be: each of them is owed one."""
    with_channels(store, *ids)
    find(store, *ids)
    return Recorder(answer=lambda delivery: GONE)


def test_one_mail_tells_what_why_and_how_many(store: Store, clock: Clock) -> None:
    channel = disabled(store, clock, "s")
    with_mail(store, "m", "ann@example.org")
    find(store, "s", many=3)
    mailbox = Mailbox()
    turned(store, channel, clock, mailbox)
    (notice,) = mailbox.mailed
    assert (notice.owner, notice.subscription, notice.address) == (OWNER, "s", "ann@example.org")
    assert notice.channel is not None
    assert (notice.channel.reason, notice.channel.failing_since) == ("it answered 410", START)
    assert (notice.waiting, notice.dead, notice.attempts) == (4, 0, 0)
    clock.tick(3_600)
    turned(store, channel, clock, mailbox)
    assert len(mailbox.mailed) == 1
    assert len(store.notices_of(OWNER)) == 1


def test_nobody_is_told_where_nobody_confirmed(store: Store, clock: Clock) -> None:
    channel = disabled(store, clock, "s")
    with_mail(store, "m", "ann@example.org", "unconfirmed")
    with_mail(store, "n", "bob@example.org", "disabled")
    mailbox = Mailbox()
    turned(store, channel, clock, mailbox)
    with_mail(store, "o", "late@example.org")
    turned(store, channel, clock, mailbox)
    assert mailbox.mailed == []
    assert len(store.notices_of(OWNER)) == 1  # it stands there


def test_others_addresses_are_none(store: Store, clock: Clock) -> None:
    channel = disabled(store, clock, "s")
    store.set_channel(StoredChannel("m", "bob", "email", {"address": "bob@example.org"}))
    mailbox = Mailbox()
    turned(store, channel, clock, mailbox)
    assert mailbox.mailed == []


@pytest.mark.parametrize(
    ("others", "told"),
    [
        ([], []),
        ([("n", "ann@example.org", "active")], []),  # the same address under another subscription
        ([("n", "ann@example.org", "active"), ("o", "bob@example.org", "paused")], ["bob@example.org"]),
        ([("n", "bob@example.org", "paused"), ("o", "cat@example.org", "active")], ["cat@example.org"]),
    ],
)
def test_an_address_that_fails_is_not_told_of_itself(
    store: Store, clock: Clock, others: list[tuple[str, str, str]], told: list[str]
) -> None:
    channel = disabled(store, clock, "s")
    with_mail(store, "s", "ann@example.org")
    for other in others:
        with_mail(store, *other)
    mailbox = Mailbox()
    turned(store, channel, clock, mailbox)
    found = store.channel("s", OWNER)
    assert found is not None
    assert (found.kind, found.state) == ("email", "disabled")
    assert [one.address for one in mailbox.mailed] == told


def test_one_that_was_resumed_meanwhile_is_not_told_of(store: Store, clock: Clock) -> None:
    channel = disabled(store, clock, "s")
    with_mail(store, "m", "ann@example.org")
    send_all(store, channel, clock)  # without mail
    store.change_channel("s", OWNER, state="active")
    channel.answer = lambda delivery: OK
    mailbox = Mailbox()
    turned(store, channel, clock, mailbox)
    assert mailbox.mailed == []
    assert store.due_notices(clock.time, 10) == []


def test_a_mail_that_does_not_arrive_is_tried_by_the_schedule_and_disables_nothing(store: Store, clock: Clock) -> None:
    channel = disabled(store, clock, "s")
    with_mail(store, "m", "ann@example.org")
    mailbox = Mailbox(lambda: REFUSED)
    turned(store, channel, clock, mailbox)
    for wait in WAITS:
        assert len(store.due_notices(Instant(clock.time + 10**12), 10)) == 1
        clock.tick(wait)
        turned(store, channel, clock, mailbox)
    assert [one.attempts for one in mailbox.mailed] == list(range(10))
    assert store.due_notices(Instant(clock.time + 10**12), 10) == []
    confirmed = store.channel("m", OWNER)
    assert confirmed is not None
    assert confirmed.state == "active"
    assert len(store.notices_of(OWNER)) == 1  # none about the mail


def test_what_was_sent_and_not_noted_is_sent_again_with_the_same_message_id(store: Store, clock: Clock) -> None:
    channel = disabled(store, clock, "s")
    with_mail(store, "m", "ann@example.org")
    send_all(store, channel, clock)
    sink = Sink()

    async def twice() -> None:
        async with channel_to(sink) as mail:
            (notice,) = store.due_notices(clock.time, 10)
            assert (await mail.mail_notice(notice, clock.time)).ok  # and killed
            outbox = Outbox(store, {"record": channel}, clock, lambda: 0.5, mail_notice=mail.mail_notice)
            await settled(outbox)
            while store.due_notices(clock.time, 10):
                await asyncio.sleep(0.01)
            await outbox.close()

    asyncio.run(twice())
    assert len({email.message_from_bytes(mail)["Message-ID"] for _, _, mail in sink.mails}) == 1
    assert [to for _, to, _ in sink.mails] == ["ann@example.org"] * 2
    assert sink.last["Subject"] == "Tidings: sending by record was stopped: price < 100"
    text = sink.last.get_body(("plain",)).get_content()  # type: ignore[union-attr]
    assert text.startswith("Sending by record to ")
    assert "Subscription: price < 100" in text
    assert "Reason: it answered 410" in text
    assert f"nothing has arrived since {START}" in text
    assert "1 delivery waits to be sent, 0 deliveries were given up." in text
    assert "https://tidings.example/pages/subscriptions/s/deliveries" in text, "where the button is"
    assert "POST https://tidings.example/v1/subscriptions/s/channel/resume" in text


def test_whoever_lost_the_lease_notes_nothing(store: Store, clock: Clock) -> None:
    channel = disabled(store, clock, "s")
    with_mail(store, "m", "ann@example.org")
    send_all(store, channel, clock)
    (notice,) = store.due_notices(clock.time, 10)
    assert store.take_lease("two", 0.000099)
    with pytest.raises(LeaseLost):
        store.notice_mailed("one", notice.number, None)
    assert len(store.due_notices(clock.time, 10)) == 1


def test_what_others_wrote_stays_in_its_line() -> None:
    evil = "x\r\nBcc: all@example.org\r\n\r\n<script>"
    channel = StoredChannel(evil, evil, "webhook", {"url": "https://hook.example/secret-path"}, "disabled", evil)
    notice = DueNotice(1, evil, evil, NOW, 0, "a@example.org", channel, 2, 3, evil)
    mail = notice_mail(notice, channel, "https://t.example")
    assert "\n" not in mail.subject
    assert "\nBcc" not in mail.plain
    assert "<script>" not in mail.html
    assert "secret-path" not in mail.plain
    assert "tidings replay-deliveries x%0D%0ABcc" in mail.plain
