"""Where the matches and the refused events of `tidings match` go: files, pipes, full disks."""

import gzip
import json
import os
import subprocess
from pathlib import Path

from tests.cli.conftest import (
    EVENT,
    MATCHES,
    SCHEMA,
    Tidings,
    exit_code_when_nobody_reads,
    left_behind,
    lines,
    process,
    subscriptions,
)

BAD_EVENTS = b'not json\n{"id": "z"}\n[1]\n\xff\xfe\n{"id": "n", "attributes": {"price": NaN}}\n"x"\n'


def test_a_file_of_bad_lines_only(tidings: Tidings) -> None:
    Path("bad.jsonl").write_bytes(BAD_EVENTS)
    done = tidings("match", "subscriptions.jsonl", "bad.jsonl", *SCHEMA)
    assert (done.exit_code, done.stdout) == (0, "")
    assert "line 1: refused: form: the line is not valid JSON" in done.stderr
    assert "line 2: event 'z' refused: mandatory: the event has no event_type" in done.stderr
    assert "more events were refused; --rejects FILE lists them all" in done.stderr
    assert "0 events, 6 subscriptions, 6 events refused" in done.stderr


def test_strict_exits_with_1_and_rejects_are_written(tidings: Tidings, folder: Path) -> None:
    Path("bad.jsonl").write_bytes(BAD_EVENTS)
    options = ("--strict", "--rejects", "rejects.jsonl", "--output", "out.jsonl")
    done = tidings("match", "subscriptions.jsonl", "bad.jsonl", *SCHEMA, *options)
    assert (done.exit_code, done.stdout) == (1, "")
    rejects = lines(Path("rejects.jsonl").read_text())
    assert [one["line"] for one in rejects] == [1, 2, 3, 4, 5, 6]
    assert rejects[0]["errors"][0]["rule"] == "form"  # type: ignore[index]
    assert Path("out.jsonl").read_text() == ""
    assert "refused:" not in done.stderr
    assert left_behind(folder) == ["bad.jsonl", "out.jsonl", "rejects.jsonl"]


def test_strict_is_content_when_all_is_well(tidings: Tidings) -> None:
    Path("one.jsonl").write_text(json.dumps(EVENT))
    assert tidings("match", "subscriptions.jsonl", "one.jsonl", *SCHEMA, "--strict").exit_code == 0


def test_a_closed_pipe_ends_it_in_peace() -> None:
    event = json.dumps(EVENT)
    Path("many.jsonl").write_text("".join(event.replace('"x"', f'"{i}"') + "\n" for i in range(3000)))
    own = subscriptions(*["price > 0"] * 20)
    assert exit_code_when_nobody_reads("match", own, "many.jsonl", *SCHEMA) == (0, "")


def test_a_pipe_is_written_through_and_stays_one() -> None:
    """A file renamed over it would take its place; over /dev/null it would do so for everybody."""
    os.mkfifo("pipe")
    with subprocess.Popen(["cat", "pipe"], stdout=subprocess.PIPE, text=True) as reader:
        process("match", "subscriptions.jsonl", "events.jsonl", *SCHEMA, "--output", "pipe")
        assert Path("pipe").is_fifo()
        assert lines(reader.communicate()[0]) == MATCHES


def test_an_output_that_is_a_link_stays_a_link_and_keeps_its_permissions(tidings: Tidings) -> None:
    Path("real").write_text("old")
    Path("real").chmod(0o640)
    Path("link").symlink_to("real")
    assert tidings("match", "subscriptions.jsonl", "events.jsonl", *SCHEMA, "--output", "link").exit_code == 0
    assert Path("link").is_symlink()
    assert lines(Path("real").read_text()) == MATCHES
    assert Path("real").stat().st_mode & 0o777 == 0o640


def test_a_full_disk_is_told() -> None:
    with open("/dev/full", "wb") as full:
        done = process("match", "subscriptions.jsonl", "events.jsonl", *SCHEMA, stdout=full)
    assert done.returncode == 1
    assert "No space left on device" in done.stderr
    assert "Traceback" not in done.stderr


def test_what_fails_in_the_middle_leaves_no_file(tidings: Tidings, folder: Path) -> None:
    event = json.dumps(EVENT)
    many = "".join(event.replace('"x"', f'"{i}"') + "\n" for i in range(30_000)).encode()
    Path("many.jsonl.gz").write_bytes(gzip.compress(many, 0)[:-100])
    Path("out").write_text("old")
    options = ("--output", "out", "--rejects", "rejects")
    done = tidings("match", subscriptions("price = 0"), "many.jsonl.gz", *SCHEMA, *options)
    assert done.exit_code == 1
    assert "many.jsonl.gz: damaged after line" in done.stderr
    assert left_behind(folder) == ["many.jsonl.gz", "out"]
    assert Path("out").read_text() == "old"
