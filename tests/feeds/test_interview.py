"""`tidings feed infer --interactive` with scripted answers."""

from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from tidings.cli.main import app
from tidings.feeds import WrongMapping, read_mapping
from tidings.feeds.inference.corrections import corrected, effect, typed, whole
from tidings.feeds.mapping.mapping import Mapping
from tidings.feeds.mapping.mapping_file import mapping_of

ROWS = (
    "Nr;Titel;Preis;Farbe\n" + "".join(f"n{n};Auto {n};{n}00 €;rot|blau\n" for n in range(1, 25)) + "n99;x;12 Raten;\n"
)


@pytest.fixture
def cars(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TIDINGS_SERVER", raising=False)
    path = tmp_path / "cars.csv"
    path.write_text(ROWS)
    return path


def interview(*answers: str, more: tuple[str, ...] = ()) -> Result:
    arguments = ["feed", "infer", "cars.csv", "--interactive", "--mapping", "m.toml", *more]
    return CliRunner().invoke(app, arguments, input="".join(answer + "\n" for answer in answers))


def test_every_guess_can_be_accepted(cars: Path) -> None:
    done = interview("", "", "", "", "", "")
    assert done.exit_code == 0, done.output
    guessed = CliRunner().invoke(app, ["feed", "infer", "cars.csv", "--mapping", "g.toml"])
    assert guessed.exit_code == 0
    assert Path("m.toml").read_text() == Path("g.toml").read_text()
    assert "100 % of 25 records, 25 distinct: 'n1', 'n2', 'n3'; string" in done.stderr
    assert "in 20 records: n1, n2" in done.stderr


def test_guesses_are_corrected_and_the_effect_is_shown(cars: Path) -> None:
    done = interview(
        "used_car",
        "Farbe",  # not in every record
        "Nr",
        "skip",
        "name=headline kind=text mandatory",
        "",
        "kind=numeric decimal=, unit=€ on_bad=missing",
        "",
        "name=headline",  # taken
        "name=colour split=| kind=enumerated grow=no",
        "",
    )
    assert done.exit_code == 0, done.output
    assert "'Farbe' is missing in some records or not unique" in done.stderr
    assert "another field is called 'headline'" in done.stderr
    made = read_mapping(Path("m.toml"))
    assert (made.event_types, made.id) == (("used_car",), ("Nr",))
    headline, price, colour = made.fields
    assert (headline.attribute, str(headline.kind), headline.mandatory) == ("headline", "text", True)
    assert (str(price.kind), price.reading.unit, price.reading.on_bad) == ("numeric", ("€",), "missing")
    assert (colour.attribute, colour.reading.split, colour.several, colour.grow) == ("colour", "|", True, False)
    assert '"colour": ["rot", "blau"]' in done.stderr


def test_where_the_answers_end_the_rest_is_accepted(cars: Path) -> None:
    done = interview("", "", "skip")
    assert done.exit_code == 0, done.output
    assert "no more answers: the other guesses are accepted" in done.stderr
    assert [one.attribute for one in read_mapping(Path("m.toml")).fields] == ["titel", "preis", "farbe"]


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("knd=text", "did you mean 'kind'"),
        ("kind=number", "expected 'numeric'"),
        ("mandatory=perhaps", "expected yes or no"),
        ("missing='not", "No closing quotation"),
        ("?", "leave the field out"),
    ],
)
def test_a_wrong_answer_is_asked_again(cars: Path, answer: str, said: str) -> None:
    done = interview("", "", answer, "rest")
    assert done.exit_code == 0, done.output
    assert said in done.stderr
    assert len(read_mapping(Path("m.toml")).fields) == 4


# What is behind it


def small(**field: Any) -> Mapping:
    keys = {"file": "/d.csv", "event_type": "t", "fields": {"a": {"from": "x", **field}, "b": "y"}}
    return mapping_of(keys, "m.toml", Path())


def test_a_correction_is_what_a_mapping_would_say() -> None:
    made = corrected(small(kind="enumerated", grow=True), "a", {"kind": "numeric", "name": "n", "unit": ["$", "USD"]})
    assert [one.attribute for one in made.fields] == ["n", "b"]
    assert (str(made.fields[0].kind), made.fields[0].grow, made.fields[0].reading.unit) == (
        "numeric",
        False,
        ("$", "USD"),
    )
    assert corrected(made, "n", {"unit": ""}).fields[0].reading.unit == ()
    assert made.origin == small().origin
    with pytest.raises(WrongMapping, match="only field"):
        corrected(corrected(small(), "b", {"skip": True}), "a", {"skip": True})
    assert whole(small(), id=["x", "y"]).id == ("x", "y")


def test_the_effect_counts_what_is_read_and_what_is_bad() -> None:
    records = [{"x": ("1",)}, {"x": ("two",)}, {"x": ("",)}]
    seen = effect(small(kind="numeric"), "a", records)
    assert (seen.records, seen.values, len(seen.wrong)) == (3, ("1",), 1)
    assert typed("several", [""], "a") is True
    assert typed("path", [">"], "a") == ">"


def test_the_time_of_the_event_is_asked_for_where_there_are_times(cars: Path) -> None:
    cars.write_text("Nr;Gesehen\n" + "".join(f"n{n};{n:02}.05.2026\n" for n in range(1, 25)))
    done = interview("", "", "", "", "Nr", "Gesehen")
    assert done.exit_code == 0, done.output
    assert "expected a column of times ('Gesehen'), got 'Nr'" in done.stderr
    time = read_mapping(Path("m.toml")).time
    assert time is not None
    assert (time.path, time.time_format) == ("Gesehen", ("%d.%m.%Y",))
    interview("", "", "", "", "-")
    assert read_mapping(Path("m.toml")).time is None
