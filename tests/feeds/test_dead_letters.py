"""Refused records are kept, counted, and published by a corrected mapping."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from tests.service.conftest import Service
from tidings.cli.main import app
from tidings.cli.server.server import save_token
from tidings.client import Client
from tidings.feeds import Feed, UnreadableFeed, read_mapping, state_path
from tidings.feeds.memory import dead_letters
from tidings.feeds.memory.dead_letters import DeadLetters, letters_path
from tidings.feeds.records.records import Located

MAPPING = 'file = "d.csv"\nevent_type = "car"\nid = "n"\n[fields]\nbrand = "b"\nyear = {{ from = "y", {more} }}\n'


@pytest.fixture
def mapping(tmp_path: Path, service: Service, ann: Client, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("TIDINGS_SERVER", service.address)
    monkeypatch.delenv("TIDINGS_TOKEN", raising=False)
    save_token(service.address, ann.token or "")
    path = tmp_path / "m.toml"
    path.write_text(MAPPING.format(more='on_bad = "refuse"'))
    (tmp_path / "d.csv").write_text("n,b,y\n1,mini,1990\n2,mini,built 1991\n3,mini,\n4,mini,about 1992\n,mini,1993\n")
    return path


def refused(*more: str) -> Result:
    return CliRunner().invoke(app, ["feed", "refused", "m.toml", *more])


def letters(mapping: Path) -> DeadLetters:
    return DeadLetters(letters_path(state_path(mapping)))


def test_what_is_refused_is_kept_and_published_by_a_corrected_mapping(mapping: Path, ann: Client) -> None:
    Feed(read_mapping(mapping), ann, state=state_path(mapping)).once()
    told = refused()
    assert told.exit_code == 0, told.output
    assert "line 3: event '2' refused: domain: 'year': 'built 1991' cannot be read as a number" in told.stdout
    assert told.stderr.splitlines()[0] == "4 refused records"
    assert {"2 × year: not a number", "1 × id: missing"} <= set(told.stderr.splitlines())
    (mapping.parent / "d.csv").unlink()  # what was refused is kept nevertheless

    mapping.write_text(MAPPING.format(more='on_bad = "refuse", pattern = "built ([0-9]+)"'))
    again = refused("--retry")
    assert again.exit_code == 1, "some are left"
    assert again.stderr.splitlines()[0] == "1 published, 3 still refused"
    assert [one.event["attributes"]["year"] for one in ann.query("year = 1991")] == [1991]
    left = [json.loads(line) for line in refused("--json").stdout.splitlines()]
    assert {one["id"] for one in left} >= {"3", "4"}
    assert next(one for one in left if one["id"] == "4")["faults"] == ["year: pattern does not match"]

    assert "3 refused records dropped" in refused("--drop").stderr
    assert not letters_path(state_path(mapping)).exists()
    assert refused().stderr == "0 refused records\n"


def test_a_page_has_the_counts_and_every_record_as_text(mapping: Path, ann: Client) -> None:
    (mapping.parent / "d.csv").write_text("n,b,y\n1,mini,<b>old</b>\n2,mini,1991\n" + "3,mini,old\n4,mini,old\n")
    Feed(read_mapping(mapping), ann, state=state_path(mapping)).once()
    told = refused("--page", "refused.html")
    assert told.exit_code == 0, told.output
    page = (mapping.parent / "refused.html").read_text()
    assert "<h1>m: 3 refused records</h1>" in page
    assert "<td>3<td>year: not a number" in page
    assert "d.csv: line 2<td>1<td>domain: &#x27;year&#x27;: &#x27;&lt;b&gt;old&lt;/b&gt;&#x27;" in page
    assert "<td>n: 1; b: mini; y: &lt;b&gt;old&lt;/b&gt;\n" in page
    assert "<b>" not in page


def test_a_run_by_a_corrected_mapping_settles_them(mapping: Path, ann: Client) -> None:
    Feed(read_mapping(mapping), ann, state=state_path(mapping)).once()
    assert len(letters(mapping)) == 4
    mapping.write_text(
        MAPPING.format(more='missing = ["about 1992", "built 1991"]').replace('id = "n"', 'id = ["b", "y"]')
    )
    (mapping.parent / "d.csv").write_text("n,b,y\n1,mini,1990\n2,mini,1991\n3,mini,1995\n4,mini,1992\n,mini,1993\n")
    Feed(read_mapping(mapping), ann, state=state_path(mapping)).once()
    # The record without a number is the same, so its letter is settled; the others at their lines have changed.
    assert set(letters(mapping).letters) == {"2", "3", "4"}


def test_what_the_mapping_did_not_read_cannot_be_tried(mapping: Path, ann: Client) -> None:
    Feed(read_mapping(mapping), ann, state=state_path(mapping)).once()
    mapping.write_text(MAPPING.format(more="strip = true") + 'paint = "colour"\n')
    again = refused("--retry")
    assert "4 records lack something that the mapping reads now" in again.stderr, again.output
    assert len(letters(mapping)) == 4


def test_rows_that_end_early_can_be_tried(mapping: Path, ann: Client) -> None:
    (mapping.parent / "d.csv").write_text("b,y,n\nmini,1990\nmini,1991,7\n")
    Feed(read_mapping(mapping), ann, state=state_path(mapping)).once()
    assert [one["faults"] for one in letters(mapping).letters.values()] == [["id: missing"]]
    mapping.write_text(MAPPING.format(more="strip = true").replace('id = "n"', 'id = "b"'))
    again = refused("--retry")
    assert again.stderr.splitlines()[0] == "1 published, 0 still refused", again.output


def test_letters_beyond_those_kept_are_counted_and_published_from_the_source(
    mapping: Path, ann: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dead_letters, "MOST", 3)
    file = mapping.parent / "d.csv"
    file.write_text("n,b,y\n" + "".join(f"{n},mini,built 19{n}\n" for n in range(10, 20)))
    run = ["feed", "run", "m.toml", "--once"]
    told = CliRunner().invoke(app, run)
    assert "m: only the newest 3 refused records are kept; --rejects FILE writes all of them" in told.stderr
    assert "m: 3 refused records kept" in told.stderr
    advice = "after you correct the mapping, run"
    assert f"m: 7 older refused records not kept; {advice} it again to publish them" in told.stderr
    assert f"7 older refused records not kept; {advice} the feed again" in refused().stderr
    assert "m: 7 older refused records not kept" in CliRunner().invoke(app, run).stderr, "also where nothing is new"
    assert "7 older ones are not kept" in (refused("--page", "p.html"), (mapping.parent / "p.html").read_text())[1]

    mapping.write_text(MAPPING.format(more='on_bad = "refuse", pattern = "built ([0-9]+)"'))
    assert refused("--retry").stderr.splitlines()[0] == "3 published, 0 still refused"
    assert "7 older refused records not kept" in refused().stderr
    again = CliRunner().invoke(app, run)
    assert "7 published, 3 duplicates" in again.stderr
    assert "not kept" not in again.stderr
    assert not letters_path(state_path(mapping)).exists()

    mapping.write_text(MAPPING.format(more='on_bad = "refuse"'))
    file.write_text("n,b,y\n" + "".join(f"{n},mini,built 19{n}\n" for n in range(30, 40)))
    assert "7 older" in CliRunner().invoke(app, run).stderr
    assert "10 refused records dropped" in refused("--drop").stderr
    assert not letters_path(state_path(mapping)).exists()


def test_the_oldest_give_way_and_a_damaged_file_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dead_letters, "MOST", 3)
    made = DeadLetters(tmp_path / "l")
    for number in range(5):
        told = {"id": str(number), "errors": []}
        made.add("f", "d.csv", Located({"a": (str(number),)}, number + 1, number), told, ["a: missing"])
    made.keep(at_once=True)
    kept = DeadLetters(tmp_path / "l")
    assert (list(kept.letters), kept.beyond) == (["2", "3", "4"], 2)
    kept.drop("0")
    kept.drop("9")
    assert kept.beyond == 1
    assert made.faults() == {"a: missing": 3}
    (tmp_path / "l").write_text("{]\n")
    with pytest.raises(UnreadableFeed, match="line 1 is damaged"):
        DeadLetters(tmp_path / "l")


def test_however_much_is_refused_what_is_remembered_of_it_is_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dead_letters, "MOST", 50)
    monkeypatch.setattr(dead_letters, "MOST_BYTES", 2_700)
    monkeypatch.setattr(dead_letters, "MOST_BEYOND", 20)
    made = DeadLetters(tmp_path / "l")

    def refuse(number: int, text: str = "") -> None:
        told = {"id": str(number), "errors": []}
        made.add("f", "d.csv", Located({"a": (text,)}, number + 1, number), told, ["a: missing"])

    for number in range(30):
        refuse(number)
    few = len(made)
    assert 20 < few < 30
    assert made.beyond == 30 - few
    assert not made.more
    refuse(30, 2_000 * "x")
    assert 1 < len(made) < 10
    assert made.beyond == 20
    assert made.more
    refuse(31, 3_000 * "x")
    assert len(made) == 0, "none of which could be kept"
    for number in range(100, 200):
        refuse(number)
    assert len(made._places) == len(made._sizes) == len(made)
    assert made._bytes <= 2_700
    made.keep(at_once=True)
    kept = DeadLetters(tmp_path / "l")
    assert (kept.more, kept.beyond, kept._bytes, kept._places) == (True, 20, made._bytes, made._places)
    for number in range(200):
        kept.drop(str(number))
    assert (kept.more, kept.beyond, kept._bytes, kept._places) == (False, 0, 0, {})
