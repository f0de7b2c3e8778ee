"""The setting by which the torture's service tries again soon; without it the schedule is the documented one."""

from __future__ import annotations

import pytest

from tidings.notifying.outbox.schedule import WAITS, next_due
from tidings.schema import Instant
from tidings.settings import InvalidSetting, Settings, read_settings, written_settings
from tidings.torture.server import RETRY_SECONDS

NOW = Instant(0)


def test_the_waits_come_from_the_settings_and_go_to_a_child_process() -> None:
    settings = read_settings({}, {"TIDINGS_RETRY_SECONDS": "0.2, 1 2"})
    assert settings.retry_seconds == (0.2, 1.0, 2.0)
    assert read_settings({}, written_settings(settings)) == settings
    assert Settings().retry_seconds == ()
    assert read_settings({}, written_settings(Settings())) == Settings()


@pytest.mark.parametrize("text", ["0", "-1", "soon", "1;2"])
def test_what_is_no_wait_is_refused(text: str) -> None:
    with pytest.raises(InvalidSetting, match="a list of seconds, each above 0"):
        read_settings({}, {"TIDINGS_RETRY_SECONDS": text})


def test_shorter_waits_give_up_sooner() -> None:
    dues = [next_due(failures, NOW, None, lambda: 0.5, (0.2, 1.0)) for failures in (1, 2, 3)]
    assert dues == [200_000, 1_000_000, None]
    assert next_due(3, NOW, None, lambda: 0.5) == WAITS[2] * 1_000_000


def test_a_receiver_that_fails_at_random_is_not_given_up() -> None:
    assert len(RETRY_SECONDS) > 50
    assert max(RETRY_SECONDS) <= 2
