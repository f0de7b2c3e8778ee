"""Subscriptions move between nodes, each with a store of its own, and lose nothing."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from tests.network.nodes import end, ids, linked, publish, subscribe, until
from tests.network.test_nodes import LINE, Trial, trial
from tidings.network import cargo
from tidings.network.cargo import Cargo, CargoNotification, packed, ticket_digest, unpacked
from tidings.network.wire import WrongMessage, encode
from tidings.overlay import messages as m
from tidings.overlay.values import Version
from tidings.schema import Instant
from tidings.store import Departure, Pause, Standing, Store, Subscribe, Tick, notification_id

TICKET = "ticket"


def matched(store: Store) -> None:
    """Instead of the pipeline: everything up to the tail that the open spans of plain subscriptions match."""
    import pyarrow as pa

    from tidings.store.notifications.commits import CHUNK

    rows = []
    for entry in store.entries(store.committed()):
        price = json.loads(entry.body).get("attributes", {}).get("price", [999])
        if entry.kind == "event" and (price[0] if isinstance(price, list) else price) < 100:
            for span in store.spans(entry.position - 1):
                if span.start <= entry.position < (span.stop or entry.position + 1) and not span.composite:
                    row = {"position": entry.position, "subscription": span.subscription, "owner": span.owner}
                    rows.append(row | {"minute": 0, "dropped": 0})
    rows.sort(key=lambda row: (row["position"], row["subscription"]))
    chunk = pa.RecordBatch.from_pylist(rows, schema=CHUNK)
    store.commit(store.committed() + 1, store.tail(), [chunk])


def notified(store: Store, subscription: str = "wish") -> list[str]:
    """The ids of events, in the order of the cursors."""
    found = store.notifications(subscription=subscription)
    bodies = store.events_at([one.position for one in found])
    return [json.loads(bodies[one.position])["id"] for one in found]


def standing(store: Store, id: str = "wish") -> Standing | None:
    return next(iter(store.subscriptions_with([id])), None)


def _marks(store: Store) -> dict[str, tuple[int, int]]:
    node = store.node()
    assert node is not None
    return node.marks


def ticket(store: Store, owner: str = "ann") -> None:
    store.put_ticket(ticket_digest(TICKET), owner, Instant(2**60))


def leaves(one: Trial, to: str = "berlin", id: str = "wish") -> None:
    one.stores["athens"].depart([Departure(id, "ann", to, TICKET)])
    one.wires.nodes["athens"].departures.look()


def moved(one: Trial, id: str = "wish") -> bool:
    old, new = one.stores["athens"], one.stores["berlin"]
    return standing(old, id) is None and standing(new, id) is not None and not old.departures()


async def pair(one: Trial) -> tuple[Store, Store]:
    linked(one.stores, LINE[0])
    one.start("athens", "berlin")
    one.stores["athens"].append([Subscribe("wish", "price < 100", "ann", name="Cheap")])
    await until(lambda: one.alive(LINE[0]))
    return one.stores["athens"], one.stores["berlin"]


def test_a_subscription_moves_with_its_notifications_and_hears_everything_once(
    tmp_path: Path, monkeypatch: Any
) -> None:
    async def story(one: Trial) -> None:
        old, new = await pair(one)
        publish(old, "old 1")
        publish(new, "new 1")
        await until(lambda: set(ids(old)) == {"old 1", "new 1"})
        matched(old)
        before = notified(old)
        publish(old, "pending")  # accepted, but not matched yet when it leaves
        at = old.position_of("s", "pending") or 0
        await until(lambda: _marks(new).get("athens", (0, 0))[1] >= at)  # so it comes along, or not at all
        publish(new, "crossing")  # may be there, here or between
        ticket(new)
        leaves(one)
        await until(lambda: moved(one))
        publish(old, "old 2")
        publish(new, "new 2")
        await until(lambda: "old 2" in ids(new))
        matched(new)
        found = notified(new)
        assert found[: len(before)] == before
        assert sorted(found) == sorted([*before, "pending", "crossing", "old 2", "new 2"])
        there = standing(new)
        assert there is not None
        assert (there.owner, there.name, there.filter) == ("ann", "Cheap", "price < 100")
        positions = new.events_at([each.position for each in new.notifications()])
        kept = {notification_id("wish", "s", json.loads(body)["id"]) for body in positions.values()}
        assert {notification_id("wish", "s", id) for id in before} <= kept
        assert new.figures().notifications == len(found)

    trial(tmp_path, monkeypatch, story)


def test_a_subscription_goes_back_and_comes_again(tmp_path: Path, monkeypatch: Any) -> None:
    """Each time it is another move: taken once, and with what was notified of at either server, each once."""

    async def story(one: Trial) -> None:
        await pair(one)
        expected = []
        for number, (here, there) in enumerate([("athens", "berlin"), ("berlin", "athens"), ("athens", "berlin")]):
            old, new = one.stores[here], one.stores[there]
            publish(new, f"{number}")
            expected.append(f"{number}")
            await until(lambda old=old, number=number: f"{number}" in ids(old))
            matched(old)
            digest = ticket_digest(f"{TICKET} {number}")
            new.put_ticket(digest, "ann", Instant(2**60))
            old.depart([Departure("wish", "ann", there, f"{TICKET} {number}")])
            one.wires.nodes[here].departures.look()
            await until(lambda old=old, new=new: standing(old) is None and standing(new) is not None)
            assert notified(new) == expected
        publish(one.stores["athens"], "last")
        await until(lambda: "last" in ids(one.stores["berlin"]))
        matched(one.stores["berlin"])
        assert notified(one.stores["berlin"]) == [*expected, "last"]

    trial(tmp_path, monkeypatch, story)


def test_others_at_the_new_server_do_not_hear_of_old_events(tmp_path: Path, monkeypatch: Any) -> None:
    async def story(one: Trial) -> None:
        old, new = await pair(one)
        publish(old, "long ago")
        matched(old)
        at = old.position_of("s", "long ago") or 0
        await until(lambda: _marks(new).get("athens", (0, 0))[1] >= at)
        subscribe(new, "other", "price < 50")
        ticket(new)
        leaves(one)
        await until(lambda: moved(one))
        publish(old, "fresh")
        await until(lambda: "fresh" in ids(new))
        matched(new)
        assert notified(new) == ["long ago", "fresh"]
        assert notified(new, "other") == ["fresh"]

    trial(tmp_path, monkeypatch, story)


@pytest.mark.parametrize("dies", ["athens", "berlin"])
def test_a_server_that_dies_on_the_way_delays_the_move_and_loses_nothing(
    tmp_path: Path, monkeypatch: Any, dies: str
) -> None:
    async def story(one: Trial) -> None:
        old, new = await pair(one)
        publish(old, "1")
        matched(old)
        ticket(new)
        one.wires.mute(m.MovedIn)  # the new server has it, and the old one never hears of it
        leaves(one)
        await until(lambda: standing(new) is not None)
        assert standing(old) is not None
        await end(one.wires, dies)
        publish(old, "2")
        one.wires.muted.clear()
        one.start(dies)
        await until(lambda: one.alive(LINE[0]) and moved(one))
        publish(old, "3")
        await until(lambda: {"2", "3"} <= set(ids(new)))
        matched(new)
        assert sorted(notified(new)) == ["1", "2", "3"]

    trial(tmp_path, monkeypatch, story)


def test_a_move_without_a_ticket_or_to_a_taken_id_is_refused_and_changes_nothing(
    tmp_path: Path, monkeypatch: Any
) -> None:
    async def story(one: Trial) -> None:
        old, new = await pair(one)
        publish(old, "1")
        matched(old)
        leaves(one)
        await until(lambda: any("ticket" in each.problem for each in old.departures()))
        assert new.subscriptions() == []
        new.append([Subscribe("wish", "price < 1", "ben")])
        ticket(new)
        leaves(one)
        await until(lambda: any("exists already" in each.problem for each in old.departures()))
        assert standing(old) is not None
        assert new.figures().notifications == 0
        wrong = m.MoveIn("athens", Version(2**50, 1), "x", "price < 5", (), b"no cargo")
        berlin = one.wires.nodes["berlin"]
        berlin.hear("athens", encode([m.Routed("berlin", 9, wrong)]))
        assert berlin.counts["refused"] == 1
        assert berlin.failed is None

    trial(tmp_path, monkeypatch, story)


def test_a_paused_subscription_stays_paused(tmp_path: Path, monkeypatch: Any) -> None:
    async def story(one: Trial) -> None:
        old, new = await pair(one)
        old.append([Pause("wish")])
        ticket(new)
        leaves(one)
        await until(lambda: moved(one))
        there = standing(new)
        assert there is not None
        assert there.state == "paused"
        publish(new, "1")
        matched(new)
        assert notified(new) == []
        await asyncio.sleep(0)

    trial(tmp_path, monkeypatch, story)


def test_what_a_composite_waits_for_goes_along(tmp_path: Path, monkeypatch: Any) -> None:
    from tests.pipeline.composite_batches import run_all

    async def story(one: Trial) -> None:
        linked(one.stores, LINE[0])
        one.start("athens", "berlin")
        old, new = one.stores["athens"], one.stores["berlin"]
        text = "[price < 10] before [price > 50] within 1 h"
        old.append([Subscribe("pair", owner="ann", composite=text)])
        await until(lambda: one.alive(LINE[0]))
        publish(old, "a1", price=1)
        publish(old, "b1", price=60)
        publish(old, "a2", price=2)
        old.append([Tick()])
        run_all(old, 0)
        assert [found(old, each.detection) for each in old.notifications()] == [["a1", "b1"]]
        publish(old, "pending", price=3)  # no batch has it yet
        ticket(new)
        leaves(one, id="pair")
        await until(lambda: moved(one, "pair"))
        publish(new, "b2", price=70)
        new.append([Tick()])
        run_all(new, 0)
        lone = one.stores["cairo"]  # had everything itself
        lone.append([Subscribe("pair", owner="ann", composite=text)])
        for id, price in (("a1", 1), ("b1", 60), ("a2", 2), ("pending", 3), ("b2", 70)):
            publish(lone, id, price=price)
        lone.append([Tick()])
        run_all(lone, 0)
        detected = [found(new, each.detection) for each in new.notifications()]
        assert len(detected) > 1
        assert sorted(detected) == sorted(found(lone, each.detection) for each in lone.notifications())
        ids_there = {each.detection for each in new.notifications()}
        assert {each.detection for each in old.notifications()} <= ids_there

    def found(store: Store, id: str) -> list[str]:
        return [event.id for event in store.detections([id])[id].events]

    trial(tmp_path, monkeypatch, story)


@pytest.mark.parametrize("dies", ["", *(pytest.param(name, marks=pytest.mark.slow) for name in ("athens", "berlin"))])
def test_any_number_of_notifications_goes_along(tmp_path: Path, monkeypatch: Any, dies: str) -> None:
    """Older ones go before the subscription, some at a time; whatever is repeated is there once."""
    from tidings.store.moves import offers

    monkeypatch.setattr(offers, "MOST_NOTIFICATIONS", 4)

    async def story(one: Trial) -> None:
        old, new = await pair(one)
        publish(old, *(f"{number}" for number in range(14)))
        matched(old)
        ticket(new)
        if dies:
            one.wires.mute(m.MoveIn)
        leaves(one)
        if dies:
            await until(lambda: len(notified(new)) == 12)
            await end(one.wires, dies)
            one.wires.muted.clear()
            one.start(dies)
        await until(lambda: moved(one))
        assert notified(new) == [f"{number}" for number in range(14)]
        assert new.figures().notifications == 14

    trial(tmp_path, monkeypatch, story)


def test_luggage_needs_a_ticket_and_a_free_id(tmp_path: Path, monkeypatch: Any) -> None:
    from tidings.store.moves import offers

    monkeypatch.setattr(offers, "MOST_NOTIFICATIONS", 4)

    async def story(one: Trial) -> None:
        old, new = await pair(one)
        publish(old, *(f"{number}" for number in range(9)))
        matched(old)
        leaves(one)
        await until(lambda: any("ticket" in each.problem for each in old.departures()))
        new.append([Subscribe("wish", "price < 1", "ben")])
        ticket(new)
        leaves(one)
        await until(lambda: any("exists already" in each.problem for each in old.departures()))
        assert new.figures().notifications == 0
        assert ids(new) == []

    trial(tmp_path, monkeypatch, story)


def test_what_does_not_fit_into_a_message_is_halved(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(cargo, "_MOST_BYTES", 300)

    async def story(one: Trial) -> None:
        old, new = await pair(one)
        publish(old, *(f"{number**9}" for number in range(7)))
        matched(old)
        ticket(new)
        leaves(one)
        await until(lambda: moved(one))
        assert notified(new) == [f"{number**9}" for number in range(7)]

    trial(tmp_path, monkeypatch, story)


def test_a_cargo_that_is_none_is_refused() -> None:
    wrong = Cargo("t", "price < 5", False, False, 0, notifications=(CargoNotification(3, 0),))
    for data in (b"", b"xyz", packed(wrong)):
        with pytest.raises(WrongMessage):
            unpacked(data)
