"""A journal that was put back from an older copy begins another incarnation, and old plans are not trusted."""

import shutil
from pathlib import Path

import pytest

from tests.pipeline.market import Market, opening
from tidings.pipeline.plans.planner import Planner
from tidings.pipeline.plans.plans import Plans
from tidings.pipeline.plans.restored_journal import was_put_back
from tidings.store import Store, export_journal, import_journal


@pytest.fixture
def plans(tmp_path: Path) -> Plans:
    return Plans(tmp_path / "plans")


def backed_up(tmp_path: Path) -> Path:
    """A copy of a journal of which some more was accepted, and planned, later."""
    with Store.open(tmp_path / "tidings.db") as store:
        store.append(opening())
    return Path(shutil.copyfile(tmp_path / "tidings.db", tmp_path / "copy.db"))


def test_a_journal_that_goes_on_was_not_put_back(tmp_path: Path, plans: Plans) -> None:
    backed_up(tmp_path)
    with Store.open(tmp_path / "tidings.db") as store:
        assert not was_put_back(store, plans), "there is no plan yet"
        Planner(store, plans).catch_up()
        assert not was_put_back(store, plans)
        store.append([Market(1).subscribe() for _ in range(5)])
        assert not was_put_back(store, plans)


@pytest.mark.parametrize("grows", [0, 1, 10])
def test_a_copy_is_noticed_however_far_it_has_come_since(tmp_path: Path, plans: Plans, grows: int) -> None:
    copy = backed_up(tmp_path)
    with Store.open(tmp_path / "tidings.db") as store:
        store.append([Market(1).subscribe() for _ in range(3)])
        published = Planner(store, plans).catch_up()
    with Store.open(copy) as restored:
        market = Market(2)
        for _ in range(grows):
            restored.append([market.subscribe()])
        assert was_put_back(restored, plans)
        restored.renew_incarnation()
        assert not was_put_back(restored, plans), "it is said once"
        again = Planner(restored, plans).catch_up()
        assert again.incarnation != published.incarnation
        assert again.covers == restored.tail()


def test_an_import_begins_another_incarnation(tmp_path: Path, plans: Plans) -> None:
    backed_up(tmp_path)
    with Store.open(tmp_path / "tidings.db") as store, Store.open(tmp_path / "new.db") as other:
        published = Planner(store, plans).catch_up()
        export_journal(store, tmp_path / "journal")
        import_journal(tmp_path / "journal", other)
        assert other.id == store.id
        assert Planner(other, plans).catch_up().incarnation != published.incarnation
