"""Questions about filters and stored events, asked in this process."""

from pathlib import Path

import pytest

from tests.services.sqlite import new_store
from tests.store.samples import publish, with_schema
from tidings.matching.explain import TooManySteps
from tidings.service.workers import questions
from tidings.store import Store


def test_an_explanation_has_a_limit_of_steps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Store.open(new_store(tmp_path / "tidings.db")) as store:
        with_schema(store)
        store.append([publish("e1", 1)])
        position = store.position_of("", "e1")
        assert position is not None
        assert questions.explain_stored(store, "price > 0", position)["matches"]
        monkeypatch.setattr(questions, "MOST_STEPS", 0)
        with pytest.raises(TooManySteps):
            questions.explain_stored(store, "price > 0", position)
