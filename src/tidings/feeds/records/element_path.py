"""Where something stands in XML or HTML: `li.item`, `.price b`, `a@href`, `#list li`, `td:3`, `.` for the element,
`> td` for what stands in it directly.

A small language of our own, because a mapping file may come from elsewhere: a path can only look below an element,
costs at most the elements times their depth, and calls no function. Names are compared without their namespace.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from lxml import etree

from tidings.feeds.errors import WrongPath

_NAME = r"[^\W\d][\w-]*"
_STEP = re.compile(rf"(?P<tag>\*|{_NAME})?(?P<marks>(?:[.#][\w-]+)*)(?::(?P<place>[1-9]\d{{0,3}}))?")
_MARK = re.compile(r"([.#])([\w-]+)")
_DIRECT = re.compile(r"\s*(?::scope\s*)?>")
_MOST_STEPS = 20
_XML = " xml()"  # after a path: the element itself, for attributes that are documents
_LONGEST = 500
_EXPECTED = "; expected a path such as 'li.item', '#list .price', 'td:3', 'a@href', '> td', '@id' or '.'"
_UNSEEN = frozenset({"script", "style", "template", "noscript"})  # what they hold is not what a reader sees
_WITHIN_A_WORD = frozenset(
    (
        "a",
        "abbr",
        "b",
        "code",
        "data",
        "em",
        "font",
        "i",
        "mark",
        "s",
        "small",
        "span",
        "strong",
        "sub",
        "sup",
        "time",
        "u",
    )
)


@dataclass(frozen=True, slots=True)
class Step:
    """One element on the way; an empty tag is any. `place` counts those of its tag with the same parent from 1.

    `dotted` is the step as it is written where it has a dot: XML has names such as `body.head`, which is also how an
    element `body` of the class `head` is written."""

    tag: str
    classes: frozenset[str]
    id: str
    place: int = 0
    dotted: str = ""

    def fits(self, element: etree._Element) -> bool:
        if self.dotted and local_name(element) == self.dotted:
            return not self.place or place_of(element, self.place) == self.place
        if self.tag and local_name(element) != self.tag:
            return False
        if self.id and element.get("id") != self.id:
            return False
        if self.classes and not self.classes <= set((element.get("class") or "").split()):
            return False
        return not self.place or place_of(element, self.place) == self.place


@dataclass(frozen=True, slots=True)
class ElementPath:
    """Elements below one another, not necessarily directly, and of the last one its text or an attribute.

    `direct`: the first stands in the root itself, as the cells of a row that has tables within its cells."""

    steps: tuple[Step, ...]
    attribute: str = ""
    direct: bool = False
    whole: bool = False  # the element itself, as XML

    @classmethod
    def parse(cls, text: str) -> ElementPath:
        """Raises WrongPath."""
        if len(text) > _LONGEST:
            raise WrongPath(text[:40] + "…", f"has more than {_LONGEST} characters")
        whole = text.strip().endswith(_XML)
        way, at, attribute = text.strip().removesuffix(_XML).partition("@")
        if whole and at:
            raise WrongPath(text, f"asks for both an attribute and{_XML}")
        if at and not re.fullmatch(_NAME, attribute):
            raise WrongPath(text, "has no attribute name after @" + _EXPECTED)
        direct = _DIRECT.match(way)
        way = way if direct is None else way[direct.end() :]
        words = [] if way.strip() in ("", ".") else way.split()
        if not words and (direct or (not at and way.strip() != ".")):
            raise WrongPath(text, "is empty" + _EXPECTED)
        if len(words) > _MOST_STEPS:
            raise WrongPath(text, f"has more than {_MOST_STEPS} steps")
        return cls(tuple(_step(word, text) for word in words), attribute, direct is not None, whole)

    def elements(self, root: etree._Element) -> Iterator[etree._Element]:
        """Below the root (itself only for the path `.`), in the order of the document."""
        if not self.steps:
            yield root
            return
        last, above = self.steps[-1], self.steps[:-1]
        for element in root.iterdescendants():
            if last.fits(element) and _has_above(element, above, root, self.direct):
                yield element

    def values(self, root: etree._Element) -> Iterator[str]:
        """What stands there: the text as a reader sees it, or the attribute."""
        for element in self.elements(root):
            if self.whole:
                yield etree.tostring(element, encoding="unicode", with_tail=False)
            elif not self.attribute:
                yield text_of(element)
            elif (found := _attribute(element, self.attribute)) is not None:
                yield found


def local_name(element: etree._Element) -> str:
    tag = element.tag
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


def text_of(element: etree._Element) -> str:
    """All text inside in one line, without scripts and styles."""
    pieces: list[str] = []
    walk = etree.iterwalk(element, events=("start", "end"))
    for event, at in walk:
        name = local_name(at)
        if name not in _WITHIN_A_WORD:
            pieces.append(" ")  # other tags part words, as in `<td>a</td><td>b</td>`
        if event == "start" and name in _UNSEEN:
            walk.skip_subtree()
        elif event == "start":
            pieces.append(at.text or "")
        elif at is not element:
            pieces.append(at.tail or "")
    return " ".join("".join(pieces).split())


def _step(word: str, whole: str) -> Step:
    found = _STEP.fullmatch(word)
    if found is None or not word:
        raise WrongPath(whole, f"has an unsupported step {word!r}" + _EXPECTED)
    tag = "" if found["tag"] in (None, "*") else found["tag"]
    marks = _MARK.findall(found["marks"])
    ids = [name for sign, name in marks if sign == "#"]
    if len(ids) > 1:
        raise WrongPath(whole, f"names two ids for one element in {word!r}")
    classes = frozenset(name for sign, name in marks if sign == ".")
    dotted = tag + found["marks"] if tag and classes and not ids else ""
    return Step(tag, classes, ids[0] if ids else "", int(found["place"] or 0), dotted)


def place_of(element: etree._Element, most: int) -> int:
    """Which of its tag it is among its siblings, from 1; counted no farther than is asked for."""
    place = 1
    for before in element.itersiblings(preceding=True):
        place += before.tag == element.tag
        if place > most:
            break
    return place


def _has_above(element: etree._Element, steps: tuple[Step, ...], root: etree._Element, direct: bool) -> bool:
    """Whether the steps fit, last first, the elements above it; the nearest that fits is as good as any.

    `direct`: the first of them only what stands in the root, or the element itself if there is none."""
    left = len(steps)
    at = element
    while (left or direct) and at is not root and (parent := at.getparent()) is not None and parent is not root:
        at = parent
        if not direct or left > 1 or (left == 1 and at.getparent() is root):
            left -= steps[left - 1].fits(at)
        elif not left:
            return False
    return not left


def _attribute(element: etree._Element, name: str) -> str | None:
    found = element.get(name)
    if found is None:
        for key, value in element.items():
            if str(key).rpartition("}")[2] == name:
                return str(value)
    return None if found is None else str(found)
