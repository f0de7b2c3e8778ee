"""A refusal in words that a person can act on."""

import pickle

from tidings.client import NotAllowed, QueryFailed, ServerRefused, ServerUnreachable
from tidings.client.errors import refusal
from tidings.client.xml_connection import DaemonRefused, NotForXml


def test_a_wrong_filter_shows_its_line_with_a_caret() -> None:
    problem = {
        "detail": "line 2, column 5: no attribute 'prise'; did you mean 'price'?",
        "line": 2,
        "column": 5,
        "text": "brand = 'mini'\nand prise < 1",
    }
    assert str(ServerRefused(422, problem)) == (
        "line 2, column 5: no attribute 'prise'; did you mean 'price'?\n  and prise < 1\n      ^"
    )


def test_a_place_outside_the_text_is_left_out() -> None:
    assert str(ServerRefused(422, {"detail": "wrong", "line": 9, "column": 1, "text": "x"})) == "wrong"


def test_every_broken_rule_is_told_once() -> None:
    errors = [
        {"rule": "mandatory", "attribute": "year", "value": None, "message": "'year' is missing"},
        {"rule": "domain", "attribute": "brand", "value": "x", "message": "'x' is not in domain 'brand'"},
    ]
    refused = ServerRefused(422, {"detail": "event 'e1' is refused: 'year' is missing", "errors": errors})
    assert str(refused) == "event 'e1' is refused: 'year' is missing\n  domain: 'x' is not in domain 'brand'"
    assert refused.errors == errors


def test_of_many_only_the_first_are_told() -> None:
    errors = [{"rule": "domain", "message": f"m{number}."} for number in range(30)]
    text = str(ServerRefused(422, {"detail": "refused", "errors": errors}))
    assert "m19." in text
    assert "m20." not in text
    assert text.endswith("… and 10 more")


def test_a_problem_without_words_names_the_status() -> None:
    assert str(refusal(418, {})) == "the server answered 418"


def test_errors_survive_the_way_back_from_a_worker() -> None:
    for error in (
        ServerUnreachable("http://x", "gone"),
        NotAllowed(401, {"detail": "no"}),
        QueryFailed("q1", "failed", "no memory"),
        DaemonRefused("NoSuchUser", "no"),
        NotForXml("\x01"),
    ):
        again = pickle.loads(pickle.dumps(error))
        assert type(again) is type(error)
        assert str(again) == str(error)
