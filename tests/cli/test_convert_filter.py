"""`tidings convert-filter`: what it prints, and what it says of what it cannot convert."""

import pytest

from tests.cli.conftest import Tidings


def test_a_pattern_becomes_a_filter(tidings: Tidings) -> None:
    done = tidings("convert-filter", '{"detail-type": ["car"], "detail": {"price": [{"numeric": ["<", 900]}]}}')
    assert done.stdout == "event_type = 'car' and price < 900\n"


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        ('{"detail-type": [{"prefix": "x"}]}', "detail-type: prefix: list the event types"),
        ('{"a": [{"anything-but": {"prefix": []}}]}', "a: anything-but takes at least one prefix"),
        ('{"a": ' * 400 + "[1]" + "}" * 400, "objects are nested more than 50 deep"),
        ('{"a": ' * 5000 + "[1]" + "}" * 5000, "the pattern is not JSON: maximum recursion depth"),
        ('{"a": [1e999]}', "the pattern is not JSON"),
    ],
)
def test_what_cannot_be_converted_is_one_message(tidings: Tidings, pattern: str, said: str) -> None:
    done = tidings("convert-filter", pattern)
    assert done.exit_code == 1
    assert done.stdout == ""
    assert said in " ".join(done.stderr.split())
