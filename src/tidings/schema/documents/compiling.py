"""Compiling a grammar in a process of its own, within bounds: what somebody posts must not stop the service.

Libxml2 searches what a grammar lists one by one, for each node of a document; so long lists are refused, too.

Run as a module it compiles what comes on its standard input."""

from __future__ import annotations

import resource
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from typing import Any

from lxml import etree

from tidings.schema.documents.errors import WrongGrammar
from tidings.schema.documents.grammar import Grammar, names_in

LONGEST_COMPILING = 10.0  # seconds
MOST_MEMORY = 2**30  # bytes
LONGEST_LIST = 2_000  # e.g. names in a content model, attributes of an element
MOST_VALUES = 10_000  # of an enumeration in an XSD
MOST_CONSTRAINTS = 50  # keys of an XSD: each looks at all nodes of a document
_XSD = "{http://www.w3.org/2001/XMLSchema}"


def check_compiles(grammar: Grammar, seconds: float = LONGEST_COMPILING) -> None:
    """Raises WrongGrammar where the grammar does not compile, or not in time."""
    command = [sys.executable, "-m", "tidings.schema.documents.compiling", grammar.kind]
    try:
        done = subprocess.run(command, input=grammar.text.encode(), capture_output=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        raise WrongGrammar(grammar.kind, 0, f"it takes longer than {seconds:g} s to compile; simplify it") from None
    if done.returncode == 3:
        line, _, what = done.stdout.decode(errors="replace").partition(" ")
        raise WrongGrammar(grammar.kind, int(line), what)
    if done.returncode:
        raise WrongGrammar(grammar.kind, 0, "libxml2 fails to compile it")


def _main() -> int:
    kind = "dtd" if sys.argv[1] == "dtd" else "xsd"
    try:
        resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
        text = sys.stdin.buffer.read().decode()
        compiled = Grammar(kind, text).compiled()  # type: ignore[arg-type]
        for line, what, count, most in _lists_of_xsd(text) if kind == "xsd" else _lists_of_dtd(compiled):
            if count > most:
                raise WrongGrammar(kind, line, f"{what}: {count:,}; at most {most:,} are allowed")
    except WrongGrammar as problem:
        sys.stdout.write(f"{problem.line} {problem.what}")
        return 3
    return 0


def _lists_of_dtd(compiled: Any) -> Iterator[tuple[int, str, int, int]]:
    """Line, what the list has, how many, and how many may be."""
    for element in compiled.iterelements():
        attributes = list(element.iterattributes())
        yield 0, f"names in the content of {element.name!r}", len(names_in(element.content)), LONGEST_LIST
        yield 0, f"attributes of {element.name!r}", len(attributes), LONGEST_LIST
        for one in attributes:
            yield 0, f"values of the attribute {one.name!r} of {element.name!r}", len(one.values()), LONGEST_LIST


def _lists_of_xsd(text: str) -> Iterator[tuple[int, str, int, int]]:
    root: Any = etree.fromstring(text.encode())
    constraints = list(root.iter(f"{_XSD}key", f"{_XSD}keyref", f"{_XSD}unique"))
    yield 0, "keys and references to keys", len(constraints), MOST_CONSTRAINTS
    for element in root.iterdescendants(etree.Element):
        inner = Counter(one.tag for one in element)
        values = inner.pop(f"{_XSD}enumeration", 0)
        yield element.sourceline, "values of an enumeration", values, MOST_VALUES
        yield element.sourceline, f"parts of <{element.tag.removeprefix(_XSD)}>", inner.total(), LONGEST_LIST


if __name__ == "__main__":
    sys.exit(_main())
