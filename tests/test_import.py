import subprocess
import sys

import pytest

import tidings
import tidings.store

HEAVY = ("fastapi", "lxml", "msgspec", "numba", "numpy", "pyarrow", "pyspark", "rich", "typer")


def loaded_by(statement: str) -> set[str]:
    """The modules that a fresh interpreter has after the statement."""
    program = f"import sys; {statement}; print(*sys.modules, sep='\\n')"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_import_loads_nothing_heavy() -> None:
    assert loaded_by("import tidings").isdisjoint(HEAVY)


def test_a_filter_needs_neither_arrow_nor_numba() -> None:
    assert loaded_by("import tidings; tidings.Filter").isdisjoint({"numba", "pyarrow", "pyspark", "fastapi"})


def test_one_event_is_tried_without_arrow_and_numba() -> None:
    """The service tries examples for the first guest: loading them took the page more than 300 ms."""
    assert loaded_by("import tidings.matching.choice").isdisjoint({"numba", "pyarrow"})


def test_the_command_starts_without_numba() -> None:
    assert loaded_by("import tidings.cli.main").isdisjoint({"numba", "pyspark", "fastapi"})


def test_the_source_needs_no_matcher() -> None:
    """Spark starts a process or two for it alone: numba would take each a second."""
    loaded = loaded_by("import tidings.pipeline.stream.source")
    assert loaded.isdisjoint({"numba", "tidings.matching.algorithm"})


def test_a_query_loads_little_of_the_store() -> None:
    """Loading is most of what `tidings query` does."""
    loaded = loaded_by("import tidings.pipeline.batch.query, tidings.store.journal.event_store")
    much = {"numba", "pandas", "sqlalchemy.dialects.postgresql", "tidings.store.store", "tidings.store.journal.entries"}
    assert loaded.isdisjoint(much)


def test_every_name_of_the_store_resolves() -> None:
    for name in tidings.store.__all__:
        assert getattr(tidings.store, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'Shop'"):
        tidings.store.Shop  # noqa: B018


@pytest.mark.parametrize("name", tidings.__all__)
def test_every_public_name_resolves(name: str) -> None:
    assert getattr(tidings, name) is not None


def test_the_public_names_are_in_order() -> None:
    assert tidings.__all__ == sorted(tidings.__all__)


def test_another_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Filtre'"):
        tidings.Filtre  # noqa: B018
