"""XEvent's instantiation: a path that begins with `//` or `/*` begins with names instead, as the grammar allows.

The grammar comes as its element paths, from the root to each leaf (XEvent's schema view, figure 2)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tidings.paths.tree import Element, Name, Path, Step


def instantiate(path: Path, element_paths: Iterable[Sequence[str]]) -> tuple[Path, ...]:
    """The path for each way the grammar allows its head, up to its first name; none: the grammar allows no such node.

    A path whose first step is named already is kept as it is."""
    head = _head(path.steps)
    first = path.steps[0]
    if head is None or (head == 0 and first.axis == "child"):
        return (path,)
    made: dict[Path, None] = {}
    for names in element_paths:
        for depth in range(1, len(names) + 1):
            if _fits(path.steps[: head + 1], names[:depth]) and leads_along(path.steps[head + 1 :], names[depth:]):
                named = (Step("child", Element(Name(name))) for name in names[: depth - 1])
                last = Step("child", path.steps[head].node, path.steps[head].tests)
                made[Path((*named, last, *path.steps[head + 1 :]))] = None
    return tuple(made)


def _head(steps: Sequence[Step]) -> int | None:
    """The first named step; None where a test or the end comes before it."""
    for place, step in enumerate(steps):
        if step.node != Element(None):
            return place if isinstance(step.node, Element) else None
        if step.tests:
            return None
    return None


def _fits(steps: Sequence[Step], names: Sequence[str]) -> bool:
    """Whether the steps, without their tests, lead along all of these names."""
    if not steps or not names:
        return not steps and not names
    step, *rest = steps
    here = isinstance(step.node, Element) and (step.node.name is None or step.node.name.local == names[0])
    return (here and _fits(rest, names[1:])) or (step.axis == "descendant" and _fits(steps, names[1:]))


def leads_along(steps: Sequence[Step], names: Sequence[str]) -> bool:
    """Whether the steps lead along some of the names; the grammar's attributes and texts are not looked at."""
    elements = [step for step in steps if isinstance(step.node, Element)]
    return any(_fits(elements, names[:stop]) for stop in range(len(names) + 1))
