"""Subscriptions and notifications from the command line, with a running server."""

import json
import signal
import subprocess
import sys
from pathlib import Path

from tests.cli.conftest import CAR, Tidings, lines
from tests.client.matched import match_all
from tests.service.conftest import Service
from tests.store.detected import T2, three_detections
from tidings.store.notifications.expression_errors import FailedEvent


def test_subscribe_list_and_unsubscribe(server: Service, tidings: Tidings) -> None:
    made = tidings("subscribe", "brand = mini", "--expiry", "2099-01-01")
    assert made.exit_code == 0
    id = made.stdout.strip()
    (listed,) = lines(tidings("subscriptions", "--json").stdout)
    assert (listed["id"], listed["filter"], listed["expiry"]) == (id, "brand = 'mini'", "2099-01-01T00:00:00Z")
    assert id in tidings("subscriptions", "--state", "active").stdout
    assert tidings("subscriptions", "--state", "paused").stdout == ""
    withdrawn = json.loads(tidings("unsubscribe", id, "--json").stdout)
    assert withdrawn.keys() == {"withdrawn", "position"}
    assert withdrawn["withdrawn"] == id
    assert tidings("unsubscribe", id).exit_code == 1


def test_pause_resume_and_edit(server: Service, tidings: Tidings) -> None:
    id = tidings("subscribe", "brand = mini", "--expiry", "2099-01-01").stdout.strip()
    assert json.loads(tidings("pause", id, "--json").stdout)["state"] == "paused"
    assert id in tidings("subscriptions", "--state", "paused").stdout
    assert tidings("resume", id).stderr == f"{id} is active\n"
    done = tidings("edit", id, "--filter", "brand = mini and year < 1970", "--expiry", "never", "--json")
    changed = json.loads(done.stdout)
    assert (changed["id"], changed["filter"], changed["expiry"]) == (id, "brand = 'mini' and year < 1970", None)
    assert changed["position"] == server.store.tail()
    assert tidings("edit", id, "--expiry", "never").stderr == f"{id} is unchanged\n"
    assert tidings("edit", id, "--expiry", "2098-01-01", "--stored").stderr == f"{id} is changed\n"
    wrong = tidings("edit", id, "--filter", "yaer > 1", "--expiry", "never")
    assert wrong.exit_code == 1
    assert "did you mean 'year'" in wrong.stderr
    (listed,) = lines(tidings("subscriptions", "--json").stdout)
    assert listed["expiry"] == "2098-01-01T00:00:00Z"
    assert tidings("edit", id).exit_code == 2
    assert tidings("edit", id, "--stored", "--email", "a@example.org").exit_code == 2
    assert tidings("pause", "s-unknown").exit_code == 1


def test_events_on_which_an_expression_ended_in_an_error(server: Service, tidings: Tidings) -> None:
    id = tidings("subscribe", "--dialect", "cesql", "LENGTH(title) > 3", "--name", "Long").stdout.strip()
    assert "error" not in tidings("subscriptions").stderr
    tidings("publish", json.dumps(CAR))
    store = server.store
    failed = [FailedEvent(store.tail(), store.subscription(id).span or 0, "the event has no 'title'")]
    store.commit(store.committed() + 1, store.tail(), [], failed=failed)
    assert "Long: ended in an error on 1 event, last: the event has no 'title'" in tidings("subscriptions").stderr
    (listed,) = lines(tidings("subscriptions", "--json").stdout)
    assert listed["errors"] == {"events": 1, "position": store.tail(), "detail": "the event has no 'title'"}


def test_composites(server: Service, tidings: Tidings) -> None:
    pair = "[brand = mini] before [price < 900] within {}"
    id = tidings("subscribe", "--composite", pair.format("600 s"), "--name", "Both").stdout.strip()
    (listed,) = lines(tidings("subscriptions", "--json").stdout)
    canonical = "[brand = 'mini'] before [price < 900] within {}"
    assert (listed["id"], listed["filter"], listed["composite"]) == (id, None, canonical.format("10 min"))
    assert "before" in tidings("subscriptions").stdout
    assert tidings("waiting", id).stdout == "waiting for [brand = 'mini']\n"
    done = tidings("edit", id, "--composite", pair.format("1 h"), "--json")
    assert json.loads(done.stdout)["composite"] == canonical.format("1 h")
    assert json.loads(tidings("edit", id, "--filter", "price < 5", "--json").stdout)["filter"] == "price < 5"
    assert "has a filter" in tidings("waiting", id).stderr
    wrong = tidings("subscribe", "--composite", "[brand = mini] before [price < 900]")
    assert wrong.exit_code == 1
    assert "needs a frame of time; write e.g. 'within 10 min'" in wrong.stderr
    for both in (("subscribe", "price < 5", "--composite", pair.format("1 h")), ("subscribe",)):
        assert tidings(*both).exit_code == 2
    assert tidings("edit", id, "--filter", "price < 5", "--composite", pair.format("1 h")).exit_code == 2


def test_a_wrong_filter_shows_the_place(server: Service, tidings: Tidings) -> None:
    done = tidings("subscribe", "brand = mini and yaer > 1")
    assert done.exit_code == 1
    assert "did you mean 'year'" in done.stderr
    assert "                   ^" in done.stderr


def test_warnings_are_told_beside_the_id(server: Service, tidings: Tidings) -> None:
    done = tidings("subscribe", "not (paint = 'red')")
    assert "warning:" in done.stderr
    assert done.stdout.startswith("s-")


def test_notifications_and_where_to_go_on(server: Service, tidings: Tidings) -> None:
    old = tidings("subscribe", "year < 1990").stdout.strip()
    tidings("subscribe", "year > 0")
    for year in (1980, 1995):
        tidings("publish", json.dumps({**CAR, "id": f"e{year}", "attributes": {"brand": "mini", "year": year}}))
    match_all(server.store)
    done = tidings("notifications", "--json")
    assert [one["event"]["id"] for one in lines(done.stdout)] == ["e1980", "e1980", "e1995"]  # type: ignore[index]
    assert "3 notifications; --after 3 goes on from here" in done.stderr
    assert len(lines(tidings("notifications", "--json", "--after", "2").stdout)) == 1
    assert len(lines(tidings("notifications", "--json", "--limit", "2").stdout)) == 2
    (one,) = lines(tidings("notifications", "--json", "--subscription", old).stdout)
    assert one["subscription"] == old
    assert "e1980" in tidings("notifications").stdout
    assert tidings("notifications", "--after", "nonsense").exit_code == 1


def test_notifications_of_a_composite_have_its_constituents(server: Service, tidings: Tidings) -> None:
    id = tidings("subscribe", "--composite", "[year > 0] before [year > 0] within 1 h").stdout.strip()
    for number in (1, 2):
        tidings("publish", json.dumps({**CAR, "id": f"e{number}"}))
    three_detections(server.store, id, "ann", "e1", "e2")
    pair, silence, half = (json.loads(line) for line in tidings("notifications", "--json").stdout.splitlines())
    assert pair["event"]["id"] == "e2"
    assert pair["detection"]["key"] == ["mini", 5]
    assert [one["id"] for one in pair["detection"]["events"]] == ["e1", "e2"]
    assert (silence["event"], silence["detection"]["events"]) == (None, [])
    assert half["detection"]["expired"] == "[year > 0]"
    told = tidings("notifications").stdout.splitlines()
    assert f"{id}  {T2}  mini  5  e1, e2  {{" in told[0]
    assert told[1].endswith("no events")
    assert "  e1  expired, waited for [year > 0]  {" in told[2]


def test_following_until_interrupted(server: Service, tidings: Tidings) -> None:
    tidings("subscribe", "year > 0")
    command = [sys.executable, "-m", "tidings.cli.main", "notifications", "--follow", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as follower:
        assert follower.stdout is not None
        for number in range(2):
            tidings("publish", json.dumps({**CAR, "id": f"e{number}"}))
            match_all(server.store)
            assert json.loads(follower.stdout.readline())["event"]["id"] == f"e{number}"
        follower.send_signal(signal.SIGINT)
        _, errors = follower.communicate(timeout=120)
    assert follower.returncode == 0
    assert "Traceback" not in errors


def test_names_are_given_listed_and_changed(server: Service, tidings: Tidings) -> None:
    id = tidings("subscribe", "brand = mini", "--name", "Minis", "--note", "one\ntwo").stdout.strip()
    tidings("subscribe", "brand = opel", "--name", "an Opel")
    told = tidings("subscriptions").stdout
    assert told.index("an Opel") < told.index("Minis"), "sorted without regard to case"
    assert tidings("edit", id, "--name", "Mini cars").stderr == f"{id} is changed\n"
    listed = {one["name"]: one["note"] for one in lines(tidings("subscriptions", "--json").stdout)}
    assert listed == {"an Opel": None, "Mini cars": "one\ntwo"}
    assert json.loads(tidings("edit", id, "--name", "", "--json").stdout)["name"] is None


def test_export_and_import(server: Service, tidings: Tidings, tmp_path: Path) -> None:
    id = tidings("subscribe", "brand = mini", "--name", "Minis").stdout.strip()
    file = tmp_path / "mine.jsonl"
    assert tidings("subscriptions", "export", str(file)).stderr == "1 subscription\n"
    assert lines(file.read_text()) == [{"id": id, "filter": "brand = 'mini'", "name": "Minis"}]
    again = tidings("subscriptions", "import", str(file))
    assert (again.exit_code, again.stderr) == (0, "0 subscriptions imported, 1 existed already\n")
    with file.open("a") as more:
        more.write('\n{"filter": "brand = opel"}\n{"filter": "brandy = opel"}\nnonsense\n')
    tail = server.store.tail()
    wrong = tidings("subscriptions", "import", str(file))
    assert (wrong.exit_code, server.store.tail()) == (1, tail), "all or nothing"
    assert "line 4: line 1, column 1: no attribute 'brandy'; did you mean 'brand'?" in wrong.stderr
    assert "line 5: " in wrong.stderr
    assert "2 lines cannot be imported, so nothing was" in wrong.stderr
    some = tidings("subscriptions", "import", str(file), "--partial", "--json")
    assert some.exit_code == 1
    assert [(one["line"], one["status"]) for one in lines(some.stdout)] == [
        (1, "duplicate"), (3, "accepted"), (4, "refused"), (5, "refused"),
    ]  # fmt: skip
    assert "1 subscription imported, 1 existed already, 2 refused" in some.stderr
