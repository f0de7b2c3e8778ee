import json
from pathlib import Path

import pytest

from tests.cli.conftest import EVENT, SCHEMA, Tidings, exit_code_when_nobody_reads, process, subscriptions

BARGAIN = "price < estimate and condition >= good"
ONE = json.dumps(EVENT)


def test_each_predicate_with_the_values_seen() -> None:
    done = process("explain", BARGAIN, "events.jsonl", "--event", "e3", *SCHEMA)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        "event 'e3' does not match price < \"estimate\" and condition >= 'good'",
        '    ✗ price < "estimate"   price is 2500, estimate is 2100',
        "    ✗ condition >= 'good'   condition is 'worn'",
    ]


def test_an_event_as_json(tidings: Tidings) -> None:
    done = tidings("explain", "price < 50", ONE, *SCHEMA)
    assert done.stdout == "event 'x' matches price < 50\n    ✓ price < 50   price is 10\n"


def test_alternatives_are_numbered(tidings: Tidings) -> None:
    done = tidings("explain", "price > 50 or year exists or category under furniture", ONE, *SCHEMA)
    assert "alternative 1: no" in done.stdout
    assert "year is not bound" in done.stdout
    assert "alternative 3: yes" in done.stdout


def test_no_one_value_for_all(tidings: Tidings) -> None:
    text = "paint > 'redder' and paint < 'wharf'"
    done = tidings("explain", text, "events.jsonl", "--event", "e1", *SCHEMA)
    assert "event 'e1' does not match" in done.stdout
    assert "each holds for some value, but no one value of paint satisfies them all" in done.stdout


def test_for_machines(tidings: Tidings) -> None:
    done = tidings("explain", "price < 50", ONE, *SCHEMA, "--json")
    assert json.loads(done.stdout) == {
        "filter": "price < 50",
        "event": "x",
        "matches": True,
        "alternatives": [
            {
                "matches": True,
                "note": "",
                "predicates": [
                    {"predicate": "price < 50", "holds": True, "values": {"price": [10]}, "marks": [], "note": ""}
                ],
            }
        ],
    }


def test_a_subscription_of_a_file(tidings: Tidings) -> None:
    done = tidings("explain", "subscriptions.jsonl", ONE, "--subscription", "furniture", *SCHEMA)
    assert "event 'x' matches category <= 'furniture'" in done.stdout


def test_the_only_one_of_a_file_needs_no_id(tidings: Tidings) -> None:
    Path("one.jsonl").write_text(ONE)
    assert "matches price = 10" in tidings("explain", subscriptions("price = 10"), "one.jsonl", *SCHEMA).stdout


def test_an_event_of_csv(tidings: Tidings) -> None:
    Path("e.csv").write_text("id,event_type,title,price,category,ends\n7,auction,t,5,chair,2026-01-01\n")
    assert "event '7' matches" in tidings("explain", "price = 5", "e.csv", *SCHEMA).stdout


def test_other_lines_of_the_file_may_be_broken(tidings: Tidings) -> None:
    Path("mixed.jsonl").write_bytes(b"no json\n\xff\n" + ONE.encode() + b"\n")
    done = tidings("explain", "price = 10", "mixed.jsonl", "--event", "x", *SCHEMA)
    assert (done.exit_code, "event 'x' matches" in done.stdout) == (0, True)


def test_a_warning_goes_to_standard_error(tidings: Tidings) -> None:
    done = tidings("explain", "price < 1 and price > 2", ONE, *SCHEMA)
    assert "warning: this filter can never match" in done.stderr
    assert "does not match" in done.stdout


def test_a_long_filter_is_no_file_name(tidings: Tidings) -> None:
    text = " or ".join(f"price = {number}" for number in range(60))
    assert "event 'x' matches" in tidings("explain", text, ONE, *SCHEMA).stdout


def test_what_an_event_holds_cannot_steer_the_terminal(tidings: Tidings) -> None:
    event = ONE.replace("Oak chair", "\\u001b[31m[bold]x[/bold]")
    shown = tidings("explain", "title = 'x'", event, *SCHEMA).stdout
    assert "\x1b" not in shown
    assert r"title is '\x1b[31m[bold]x[/bold]'" in shown


def test_a_terminal_without_the_characters(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    done = process("explain", "price < 50", ONE, *SCHEMA)
    assert (done.returncode, done.stderr) == (0, "")
    assert r"\u2713 price < 50" in done.stdout


@pytest.mark.parametrize("options", [(), ("--json",)])
def test_a_closed_pipe_ends_it_in_peace(options: tuple[str, ...]) -> None:
    assert exit_code_when_nobody_reads("explain", "price < 50", ONE, *SCHEMA, *options) == (0, "")


WRONG = [
    (("prise < 50", ONE), "line 1, column 1: no attribute 'prise'; did you mean 'price'?\n  prise < 50\n  ^"),
    (("", ONE), "expected an attribute, 'not' or '(', found the end of the filter"),
    (("price < 5", "{bad"), "the event is not valid JSON"),
    (("price < 5", '{"id": "x\udcff"}'), "the event is not valid JSON"),
    (("price < 5", "[" * 50_000), "the event is not valid JSON"),
    (("price < 5", "[1]"), "the event is not valid, so it would never be matched"),
    (("price < 5", "{}"), "the event has no id; the event has no event_type"),
    (("price < 5", "events.jsonl"), "events.jsonl has 4 events: choose one with --event ID"),
    (("price < 5", "events.jsonl", "--event", "e4"), "events.jsonl, line 4: the event is not valid"),
    (("price < 5", "events.jsonl", "--event", "e9"), "no event 'e9'; valid: 'e1', 'e2', 'e3', 'e4'"),
    (("subscriptions.jsonl", ONE), "subscriptions.jsonl has 6 subscriptions: choose one with --subscription ID"),
    (("subscriptions.jsonl", ONE, "--subscription", "bargan"), "did you mean 'bargain'?"),
    (("empty.jsonl", ONE), "empty.jsonl has no subscription"),
    (("price < 5", "empty.jsonl"), "empty.jsonl: the file is empty"),
]


@pytest.mark.parametrize(("arguments", "message"), WRONG, ids=[message[:40] for _, message in WRONG])
def test_wrong_input(tidings: Tidings, arguments: tuple[str, ...], message: str) -> None:
    Path("empty.jsonl").touch()
    done = tidings("explain", *arguments, *SCHEMA)
    assert (done.exit_code, done.stdout) == (1, "")
    assert message in done.stderr


USAGE = [
    (("price < 5", ONE), "Missing option '--schema'"),
    (("price < 5", "none.jsonl", *SCHEMA), "'none.jsonl' is neither a file nor an event as JSON"),
    (("price < 5", ".", *SCHEMA), "'.' is neither a file nor an event as JSON"),
    (("price < 5", "", *SCHEMA), "'' is neither a file nor an event as JSON"),
    (("none.jsonl", ONE, *SCHEMA), "no file 'none.jsonl'"),
    (("price < 5", ONE, "--schema", "none.json"), "file 'none.json' does not exist"),
]


@pytest.mark.parametrize(("arguments", "message"), USAGE, ids=[message for _, message in USAGE])
def test_usage(tidings: Tidings, arguments: tuple[str, ...], message: str) -> None:
    done = tidings("explain", *arguments)
    assert (done.exit_code, done.stdout) == (2, "")
    assert message in done.stderr
