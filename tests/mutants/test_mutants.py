"""Every fault in the list is noticed by the quick tests of its room."""

from pathlib import Path

import pytest

from tests.mutants.listed import MUTANTS
from tests.mutants.mutant import ROOT, Mutant, killers, run

KILLERS = killers()
_TESTS = sorted(set(KILLERS.values()))
_AT_ONCE = 10  # tests, which end well before the limit of a run


def test_each_mutant_can_be_applied() -> None:
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS) >= 25
    for mutant in MUTANTS:
        assert mutant.mutated()


def test_the_page_lists_every_mutant() -> None:
    page = (Path(__file__).parent / "README.md").read_text()
    rows = [line.split(" | ")[:2] for line in page.splitlines() if line.startswith("| ")]
    assert rows[1:] == [[f"| {mutant.name}", f"`{mutant.file}`"] for mutant in MUTANTS]
    for killer in KILLERS.values():
        file, *_, name = killer.split("::")
        assert f"def {name}(" in (ROOT / file).read_text(), f"{killer} is gone: python -m tests.mutants --write NAME …"


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, len(_TESTS), _AT_ONCE))
def test_what_notices_passes_without_a_fault(first: int) -> None:
    assert run(tuple(_TESTS[first : first + _AT_ONCE])).killed_by is None


@pytest.mark.slow
@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_quick_test_notices(mutant: Mutant) -> None:
    """The test that noticed it last, or another one of its selection, which passes without it."""
    if run((KILLERS[mutant.name],), mutant).killed_by is None:
        other = run(mutant.tests, mutant).killed_by
        assert other is not None
        assert run((other,)).killed_by is None
