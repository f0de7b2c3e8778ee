"""Traps of XPath: paths that are legal and often mean something else."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tidings.paths.numbers import number_of
from tidings.paths.printer import relative_text, test_text
from tidings.paths.tree import Attribute, Comparison, Path, Step, StringTest, atoms


def path_warnings(path: Path) -> list[str]:
    """One sentence for each trap, in order."""
    return list(dict.fromkeys(_steps(path.steps)))


def _steps(steps: Sequence[Step]) -> Iterator[str]:
    for step in steps:
        for test in step.tests:
            for atom in atoms(test):
                yield from _trap(atom)
                yield from _steps(atom.steps)


def _trap(atom: object) -> Iterator[str]:
    match atom:
        case StringTest(function, steps, text) if _several(steps):
            quoted = test_text(StringTest(function, (), text))
            yield (
                f"{function}() looks at the first node that '{relative_text(steps)}' selects; "
                f"for any of them write {relative_text(steps)}[{quoted}]"
            )
        case Comparison(steps, "!=", _) if _several(steps):
            yield (
                f"'{test_text(atom)}' holds when some node differs; "
                f"for none that is equal write not({test_text(Comparison(steps, '=', atom.literal))})"
            )
        case Comparison(_, operator, str() as text) if operator not in ("=", "!=") and number_of(text) is None:
            yield f"'{test_text(atom)}' is never true: '{operator}' compares numbers, and {text!r} is not a number"
        case _:
            pass


def _several(steps: Sequence[Step]) -> bool:
    """Whether the steps may select more than one node."""
    if not steps:
        return False
    only = steps[0]
    return not (len(steps) == 1 and only.axis == "child" and isinstance(only.node, Attribute) and only.node.name)
