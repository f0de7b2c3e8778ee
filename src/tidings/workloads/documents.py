"""Documents and distinct paths over them, drawn from a grammar by the usual parameters of such measurements."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from xml.sax.saxutils import escape, quoteattr

from tidings.paths.tree import Attribute, Comparison, Element, Name, Path, Step
from tidings.workloads.grammars import NEWS, XMARK, Grammar

_WORDS = ("bank", "rate", "storm", "court", "minister", "team", "goal", "season", "film", "trade", "oil", "flood")
_DEEPEST = 12
_MOST_DRAWS = 2_000_000
GRAMMARS: dict[str, tuple[str, Grammar]] = {"xmark": ("site", XMARK), "nitf": ("nitf", NEWS)}


@dataclass(slots=True)
class Drawn:
    """An element of a drawn document."""

    name: str
    attributes: dict[str, str]
    text: str
    children: list[Drawn]


@dataclass(frozen=True)
class DocumentWorkload:
    """`descendants` and `wildcards`: how likely a step is `//` or `*`; `tests`: how many a path has."""

    name: str = "xmark"
    seed: int = 1
    descendants: float = 0.2
    wildcards: float = 0.2
    deepest_path: int = 8
    tests: int = 0

    def drawn(self, count: int) -> Iterator[Drawn]:
        """Documents of 100 to 300 elements."""
        root, grammar = GRAMMARS[self.name]
        for number in range(count):
            random_ = random.Random(f"{self.name} {self.seed} {number}")
            left = [random_.randint(100, 300)]
            document = _element(root, grammar, random_, left, 1)
            while left[0] > 0:  # the last level ran dry: more below the root's children
                more = _element(random_.choice(document.children).name, grammar, random_, left, 2)
                document.children.append(more)
            yield document

    def documents(self, count: int) -> list[bytes]:
        return [_written(document).encode() for document in self.drawn(count)]

    def paths(self, count: int, documents: int = 300) -> list[Path]:
        """Distinct ones, each from the way to some element of the first documents; fewer if there are not so many.

        Most draws of paths without tests are soon such as are there already; after two million, which give at least
        100,000 paths, the rest are taken in turn from the variants of each way."""
        random_ = random.Random(f"paths {self}")
        ways = [way for document in self.drawn(documents) for way in _ways(document, ())]
        made: dict[Path, None] = {}
        for _ in range(20 * count if self.tests else min(20 * count, _MOST_DRAWS)):
            if len(made) == count:
                break
            path = self._path(random_.choice(ways), random_)
            if path is not None:
                made[path] = None
        if len(made) < count and not self.tests:
            for path in self._variants({tuple(one.name for one in way[: self.deepest_path]): None for way in ways}):
                made[path] = None
                if len(made) == count:
                    break
        return list(made)

    def _variants(self, ways: Iterable[tuple[str, ...]]) -> Iterator[Path]:
        """Each step of a way to a child or a descendant, by name or wild: one of each way, then the next of each."""
        left = [way for way in ways if len(way) > 1]
        variant = 0
        while left := [way for way in left if variant < 4 ** len(way)]:
            for way in left:
                # Odd factors lead to each variant once, and to neighbours late.
                bits = variant * 0x9E3779B1 % 4 ** len(way)
                kinds = [bits >> 2 * place & 3 for place in range(len(way))]
                if not all(kind & 2 for kind in kinds):
                    yield Path(tuple(map(_step, kinds, way)))
            variant += 1

    def _path(self, way: tuple[Drawn, ...], random_: random.Random) -> Path | None:
        way = way[: random_.randint(2, self.deepest_path)]
        steps, elements, place = [], [], 0
        while place < len(way):
            below = random_.random() < self.descendants
            if below:
                place = min(place + random_.choice((0, 0, 1, 2)), len(way) - 1)
            wild = random_.random() < self.wildcards
            steps.append(Step("descendant" if below else "child", Element(None if wild else Name(way[place].name))))
            elements.append(way[place])
            place += 1
        for _ in range(self.tests):
            tested = random_.randrange(len(steps))
            test = _test(elements[tested], random_)
            if test is None:
                return None
            steps[tested] = Step(steps[tested].axis, steps[tested].node, (*steps[tested].tests, test))
        return None if all(step.node == Element(None) for step in steps) else Path(tuple(steps))


def _step(kind: int, name: str) -> Step:
    return Step("descendant" if kind & 1 else "child", Element(None if kind & 2 else Name(name)))


def _element(name: str, grammar: Grammar, random_: random.Random, left: list[int], depth: int) -> Drawn:
    children, attributes = grammar.get(name, ("", ""))
    left[0] -= 1
    given = {one: _value(random_) for one in attributes.split() if random_.random() < 0.6}
    made = Drawn(name, given, "", [])
    known = children.split()
    if known and depth < _DEEPEST:
        wanted = len(known) if depth <= 2 else random_.randint(1, 5)
        share = [max(1, left[0] // 2)] if depth > 1 else left
        before = share[0]
        for place in range(wanted):
            if share[0] <= 0:
                break
            chosen = known[place] if depth <= 2 else random_.choice(known)
            made.children.append(_element(chosen, grammar, random_, share, depth + 1))
        if share is not left:
            left[0] -= before - share[0]
    if not made.children:
        made.text = " ".join(_value(random_) for _ in range(random_.choice((1, 1, 1, 4))))
    return made


def _value(random_: random.Random) -> str:
    if random_.random() < 0.4:
        return str(int(random_.paretovariate(0.6)) % 100_000)
    return f"{random_.choice(_WORDS)}{random_.choice(('', '', random_.randint(1, 30)))}"


def _written(element: Drawn) -> str:
    attributes = "".join(f" {name}={quoteattr(value)}" for name, value in element.attributes.items())
    inner = escape(element.text) + "".join(map(_written, element.children))
    return f"<{element.name}{attributes}>{inner}</{element.name}>"


def _ways(element: Drawn, above: tuple[Drawn, ...]) -> Iterator[tuple[Drawn, ...]]:
    way = (*above, element)
    yield way
    for child in element.children:
        yield from _ways(child, way)


def _test(element: Drawn, random_: random.Random) -> Comparison | None:
    """One that holds at this element: for an attribute, for a child's text, or for its own number."""
    known = [
        Comparison((Step("child", Attribute(Name(name))),), "=", value) for name, value in element.attributes.items()
    ]
    for child in element.children:
        if not child.children:
            known.append(Comparison((Step("child", Element(Name(child.name))),), "=", child.text))
    if not element.children and element.text.isdigit():
        known.append(Comparison((), ">", float(element.text) - random_.choice((0.5, 1, 5, 10))))
    return random_.choice(known) if known else None
