"""What a worker answers about a file that somebody wants to feed."""

import json
import pickle
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.feeds.test_ready import FORMATS
from tidings.feeds.errors import FeedError
from tidings.feeds.mapping.mapping_file import mapping_of
from tidings.schema import Attribute, Domain, Kind, growth
from tidings.service.workers.feed_guess import FeedGuess, Sample, guess_feed
from tidings.store import Grow, Store

ROWS = "Nr;Titel;Preis\n" + "".join(f"n{n};Boot {n};{n}00 €\n" for n in range(1, 30)) + "n99;x;12 Raten\n"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(str(tmp_path / "t.db")) as made:
        yield made


def guess(store: Store, answers: dict[int, dict[str, object]] | None = None, text: str = ROWS) -> FeedGuess:
    made = guess_feed(store, Sample(text, "boats.csv"), answers)
    assert pickle.loads(pickle.dumps(made)) == made, "it comes from another process"
    return made


def test_a_wrong_correction_is_told_at_its_field(store: Store) -> None:
    made = guess(store, {0: {}, 1: {"pattern": "((("}, 2: {"kind": "time"}})
    assert "expected a regular expression" in made.fields[1].problem
    assert (made.mapping, made.events, made.changes) == ("", (), ())
    assert made.fields[1].said["pattern"] == "(((", "what was typed is shown again"
    assert len(made.fields[2].wrong) == 20, "none of them is a time"


def test_fields_are_left_out_and_renamed(store: Store) -> None:
    made = guess(
        store, {0: {"skip": True}, 1: {"name": "headline"}, 2: {"kind": "numeric", "unit": "€", "grow": False}}
    )
    assert [one.kept for one in made.fields] == [False, True, True]
    read = tomllib.loads(made.mapping)
    assert list(read["fields"]) == ["headline", "preis"]
    assert made.fields[2].read[:2] == ("100", "200")
    assert "1 bad values left out" in made.remarks[-1]


def test_names_that_mean_something_else_are_changed_or_told(store: Store) -> None:
    changes = (growth.CreateDomain(Domain("titel", Kind.NUMERIC)), growth.CreateAttribute(Attribute("titel", "titel")))
    store.append([Grow(changes[0], changes[1:])])
    assert guess(store).fields[1].said["name"] == "boats_titel"
    told = guess(store, {1: {"name": "titel"}})
    assert "is numeric in the schema" in told.fields[1].problem
    assert guess(store, {1: {"name": "boats_titel"}}).changes


def test_the_id_is_as_said(store: Store) -> None:
    assert guess(store).id == "Nr"
    sample = Sample(ROWS, "boats.csv", "boat", "Nr, Titel")
    assert guess_feed(store, sample, {}).id == "Nr, Titel"
    assert guess_feed(store, Sample(ROWS, "boats.csv", "boat", ""), {}).id == ""


def test_a_ready_mapping_keeps_its_url(store: Store) -> None:
    made = guess_feed(store, Sample((FORMATS / "news.rss").read_text(), "http://example.org/feed"))
    assert (made.ready, made.event_type) == ("rss", "article")
    assert tomllib.loads(made.mapping)["url"] == "http://example.org/feed"


@pytest.mark.parametrize("text", ["{]", "<html><body>nothing</body></html>", "a,b\n"])
def test_what_cannot_be_read_is_an_error_of_feeds(store: Store, text: str) -> None:
    with pytest.raises(FeedError):
        guess(store, text=text)


def test_enumerations_are_closed_categories_get_a_path_or_a_parent_and_words_are_replaced(store: Store) -> None:
    rows = "brand,model,ok,cat\n" + "".join(
        f"{brand},andere,{ok},{brand}/{ok}\n" for brand in ("audi", "vw") for ok in ("ja", "nein") for _ in range(9)
    )
    first = guess(store, text=rows)
    assert [one.flags["open"] for one in first.fields] == [True] * 4
    answers: dict[int, dict[str, object]] = {
        0: {"open": False, "grow": True},
        1: {"kind": "hierarchical", "parent": "brand", "open": True},  # ticked as it was: another kind makes that void
        2: {"replace": "ja=yes, nein=no", "open": True},
        3: {"kind": "hierarchical", "path": "/", "open": True},
    }
    made = guess(store, answers, rows)
    assert [one.problem for one in made.fields] == [""] * 4
    assert json.loads(made.events[0])["event"]["attributes"] == {
        "brand": "audi", "model": "audi > andere", "ok": "yes", "cat": "audi > ja",
    }  # fmt: skip
    read = mapping_of(tomllib.loads(made.mapping), "boats.toml", Path())
    assert [(one.open, one.grow, one.parent, one.path) for one in read.fields] == [
        (False, True, "", False), (False, False, "brand", False), (True, False, "", False), (False, False, "", "/"),
    ]  # fmt: skip
    assert made.fields[2].said["replace"] == "ja=yes, nein=no"
    wrong = guess(store, {**answers, 0: {"grow": True, "open": True}, 2: {"replace": "ja"}}, rows)
    assert "remove `grow`" in wrong.fields[0].problem
    assert "replace" in wrong.fields[2].problem
