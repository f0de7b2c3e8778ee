"""Random paths and documents over the grammar of the paper's example, SigmodRecord.dtd (XEvent, figures 1 to 3)."""

from __future__ import annotations

import random

from tidings.overlay.xevent.sketch import Node
from tidings.paths.parser import parse_path
from tidings.paths.tree import Path

_ARTICLE = ("SigmodRecord", "issue", "articles", "article")
ELEMENT_PATHS: tuple[Node, ...] = (  # figure 2
    ("SigmodRecord", "issue", "volume"),
    ("SigmodRecord", "issue", "number"),
    (*_ARTICLE, "title"),
    (*_ARTICLE, "initPage"),
    (*_ARTICLE, "endPage"),
    (*_ARTICLE, "authors", "author"),
)
_WILDCARD, _DESCENDANT, _TESTED = 0.2, 0.2, 0.7  # of steps, of steps, of paths
_NUMBERS = {"volume": 30, "number": 4, "initPage": 500, "endPage": 500}  # and the greatest of each
_WORDS = (
    *("database", "systems", "query", "processing", "synchronization", "optimization", "relational", "model"),
    *("concurrency", "control", "distributed", "transaction", "recovery", "index", "view", "schema", "object"),
    *("language", "parallel", "storage"),
)
_NAMES = ("Bernstein", "Casanova", "Codd", "Gray", "Stonebraker", "Ullman", "Widom", "DeWitt", "Lindsay", "Mohan")


def random_paths(count: int, seed: int) -> list[Path]:
    """Different ones, as far as a hundred tries for each find them."""
    chosen = random.Random(seed)
    found: dict[Path, None] = {}
    for _ in range(100 * count):
        if len(found) == count:
            break
        found[random_path(chosen)] = None
    return list(found)


def random_path(chosen: random.Random) -> Path:
    """Along a random element path, to a random depth: wildcards, `//` in the place of some names, and a test."""
    element_path = chosen.choice(ELEMENT_PATHS)
    names = element_path[: chosen.randint(2, len(element_path))]
    text, skipped = "", False
    for place, name in enumerate(names):
        last = place == len(names) - 1
        if not last and chosen.random() < _DESCENDANT:
            skipped = True
            continue
        text += "//" if skipped else "/"
        text += name if last or chosen.random() >= _WILDCARD else "*"
        skipped = False
    return parse_path(text + (_test(chosen, names[-1]) if chosen.random() < _TESTED else ""))


def _test(chosen: random.Random, name: str) -> str:
    if name in _NUMBERS:
        return f"[. {_operator(chosen)} {chosen.randint(1, _NUMBERS[name])}]"
    match name:
        case "title":
            return f"[contains(., '{chosen.choice(_WORDS)}')]"
        case "author" if chosen.random() < 0.5:
            return f"[. = '{chosen.choice(_NAMES)}']"
        case "author":
            return f"[@position {_operator(chosen)} '0{chosen.randint(0, 4)}']"
        case "authors":
            return f"[author = '{chosen.choice(_NAMES)}']"
        case "issue":
            child = chosen.choice(("volume", "number"))
            return f"[{child} {_operator(chosen)} {chosen.randint(1, _NUMBERS[child])}]"
        case _:
            child = chosen.choice(("initPage", "endPage"))
            within = "" if name == "article" else "article/"
            return f"[{within}{child} {_operator(chosen)} {chosen.randint(1, _NUMBERS[child])}]"


def _operator(chosen: random.Random) -> str:
    return chosen.choice(("=", "<", "<=", ">", ">="))


def random_document(chosen: random.Random) -> str:
    """One issue; now and then without articles, or with an article without authors."""
    articles = "".join(_article(chosen) for _ in range(chosen.choice((0, 1, 2, 3, 4, 5, 6, 8))))
    head = f"<volume>{chosen.randint(1, 30)}</volume><number>{chosen.randint(1, 4)}</number>"
    return f"<SigmodRecord><issue>{head}<articles>{articles}</articles></issue></SigmodRecord>"


def _article(chosen: random.Random) -> str:
    first = chosen.randint(1, 480)
    title = " ".join(chosen.sample(_WORDS, chosen.randint(2, 6)))
    authors = "".join(
        f'<author position="0{place}">{name}</author>'
        for place, name in enumerate(chosen.sample(_NAMES, chosen.randint(0, 4)))
    )
    pages = f"<initPage>{first}</initPage><endPage>{first + chosen.randint(0, 20)}</endPage>"
    return f"<article><title>{title}</title>{pages}<authors>{authors}</authors></article>"
