"""Every fault in the list is noticed by the quick tests of its room."""

from pathlib import Path

import pytest

from tests.mutants.listed import MUTANTS
from tests.mutants.mutant import Mutant, run


def test_each_mutant_can_be_applied() -> None:
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS) >= 25
    for mutant in MUTANTS:
        assert mutant.mutated()


def test_the_page_lists_every_mutant() -> None:
    page = (Path(__file__).parent / "README.md").read_text()
    rows = [line.split(" | ")[:2] for line in page.splitlines() if line.startswith("| ")]
    assert rows[1:] == [[f"| {mutant.name}", f"`{mutant.file}`"] for mutant in MUTANTS]


@pytest.mark.slow
@pytest.mark.parametrize("tests", dict.fromkeys(mutant.tests for mutant in MUTANTS), ids=" ".join)
def test_the_source_without_a_fault_passes(tests: tuple[str, ...]) -> None:
    assert run(tests).killed_by is None


@pytest.mark.slow
@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_quick_test_notices(mutant: Mutant) -> None:
    assert run(mutant.tests, mutant).killed_by is not None
