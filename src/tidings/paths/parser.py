"""The text of a path into its tree. Prefixes are resolved here; what is outside the subset is refused by name."""

from __future__ import annotations

import math
from collections.abc import Mapping

from tidings.paths.cursor import PathCursor
from tidings.paths.errors import PathSyntax, PathTooLarge, UnknownPrefix
from tidings.paths.refusals import FUNCTIONS
from tidings.paths.tree import (
    And,
    Attribute,
    Axis,
    Comparison,
    Element,
    Exists,
    Name,
    NodeTest,
    Not,
    Operator,
    Or,
    Path,
    Step,
    StringTest,
    Test,
    Text,
)

MOST_STEPS = 20  # in the path, and in each test
DEEPEST_TESTS = 5
_NESTED_PARENTHESES = 100  # so that Python's own stack does not decide
_XML = "http://www.w3.org/XML/1998/namespace"


def parse_path(text: str, prefixes: Mapping[str, str] | None = None) -> Path:
    """Raises PathError. `prefixes` maps prefixes to namespaces; the empty one applies to elements without a prefix."""
    return _Parser(text, {"xml": _XML} | dict(prefixes or {})).path()


class _Parser(PathCursor):
    def path(self) -> Path:
        if self.token.kind == "end":
            raise PathSyntax(self.text, self.token.offset, "the end of the path", "a path that begins with '/' or '//'")
        if not (self.at("/") or self.at("//")):
            self.refuse_beginning()
        if self.at("/") and self.tokens[self.next + 1].kind == "end":
            self.unsupported("the document node '/' alone", "'/*' selects its root element")
        steps = self.steps(self.axis())
        if self.token.kind != "end":
            self.refuse_operator()
            self.unexpected("'/', '//', '[' or the end of the path")
        return Path(steps)

    def axis(self) -> Axis:
        if self.take("//"):
            return "descendant"
        self.need("/")
        return "child"

    def steps(self, axis: Axis) -> tuple[Step, ...]:
        steps = [self.step(axis)]
        while self.at("/") or self.at("//"):
            if not isinstance(steps[-1].node, Element):
                self.unsupported("a step after an attribute or text()", "these have no children")
            if len(steps) == MOST_STEPS:
                raise PathTooLarge(self.text, self.token.offset, "consecutive steps", MOST_STEPS)
            steps.append(self.step(self.axis()))
        return tuple(steps)

    def step(self, axis: Axis) -> Step:
        self.count(self.token.offset)
        node = self.node()
        tests = []
        while self.at("["):
            tests.append(self.bracket())
        return Step(axis, node, tuple(tests))

    def node(self) -> NodeTest:
        if self.take("*"):
            return Element(None)
        if self.take("@"):
            if self.take("*"):
                return Attribute(None)
            if self.token.kind == "name" and self.at("::", 1):
                self.refuse_axis()
            return Attribute(self.name("", "an attribute's name"))
        if self.at(".."):
            self.unsupported("'..', the parent axis", "move what follows into a test: //a[b]/c for //b/../c")
        if self.at("."):
            self.unsupported("'.' as a step", "leave it out")
        if self.token.kind == "name":
            if self.at("(", 1):
                if self.token.written == "text" and self.at(")", 2):
                    self.next += 3
                    return Text()
                self.refuse_function()
            if self.at("::", 1):
                self.refuse_axis()
        return Element(self.name(self.prefixes.get("", ""), "an element's name, '*', '@' or text()"))

    def name(self, default: str, wanted: str) -> Name:
        if self.token.kind != "name":
            self.unexpected(wanted)
        written, offset = self.token.written, self.token.offset
        prefix, colon, local = written.rpartition(":")
        if local == "*":
            self.unsupported("'prefix:*'", "name the element, or write '*'")
        self.next += 1
        if not colon:
            return Name(local, default)
        if prefix not in self.prefixes:
            raise UnknownPrefix(self.text, offset, prefix, tuple(sorted(filter(None, self.prefixes))))
        return Name(local, self.prefixes[prefix], prefix)

    def bracket(self) -> Test:
        self.need("[")
        self.depth += 1
        if self.depth > DEEPEST_TESTS:
            raise PathTooLarge(self.text, self.token.offset, "nested tests", DEEPEST_TESTS)
        test = self.either()
        self.depth -= 1
        self.need("]")
        return test

    def either(self) -> Test:
        terms = [self.both()]
        while self.keyword("or"):
            terms.append(self.both())
        return terms[0] if len(terms) == 1 else Or(tuple(terms))

    def both(self) -> Test:
        terms = [self.single()]
        while self.keyword("and"):
            terms.append(self.single())
        return terms[0] if len(terms) == 1 else And(tuple(terms))

    def keyword(self, word: str) -> bool:
        found = self.token.kind == "name" and self.token.written == word
        self.next += found
        return found

    def single(self) -> Test:
        if self.at("("):
            return self.parenthesised()
        if self.token.kind == "name" and self.at("(", 1) and self.token.written in FUNCTIONS:
            return self.call(self.token.written)
        return self.atom()

    def parenthesised(self) -> Test:
        self.need("(")
        self.parentheses += 1
        if self.parentheses > _NESTED_PARENTHESES:
            raise PathTooLarge(self.text, self.token.offset, "nested parentheses", _NESTED_PARENTHESES)
        test = self.either()
        self.parentheses -= 1
        self.need(")")
        if self.operator_next():
            self.unsupported("a comparison of truth values", "use 'and', 'or' and 'not(…)'")
        if self.at("[") or self.at("/") or self.at("//"):
            self.unsupported("a path that continues after parentheses", "write it without them")
        return test

    def call(self, function: str) -> Test:
        self.next += 1
        if function == "not":
            return Not(self.parenthesised())
        self.need("(")
        steps = self.relative()
        self.need(",")
        if self.token.kind != "text":
            self.unexpected("a text in quotes")
        text = self.token.written[1:-1]
        self.next += 1
        self.count(self.token.offset)
        self.need(")")
        if self.operator_next():
            self.unsupported("a comparison of truth values", "use 'and', 'or' and 'not(…)'")
        return StringTest("contains" if function == "contains" else "starts-with", steps, text)

    def atom(self) -> Test:
        offset = self.token.offset
        if self.token.kind in ("number", "text") or self.at("-"):
            self.refuse_literal()
        steps = self.relative()
        if not self.operator_next():
            return Exists(steps)
        operator: Operator = self.token.written  # type: ignore[assignment]  # one of them, says operator_next
        self.next += 1
        self.count(offset)
        literal = self.literal()
        if self.operator_next():
            self.unsupported("a comparison of truth values", "use 'and', 'or' and 'not(…)'")
        return Comparison(steps, operator, literal)

    def relative(self) -> tuple[Step, ...]:
        if self.at("/") or self.at("//"):
            self.unsupported("an absolute path in a test", "begin with a name, or with './/' for anything below")
        if self.at("$"):
            self.unsupported("a variable", "write its value")
        if self.at(".") and self.at("//", 1):
            self.next += 2
            return self.steps("descendant")
        if self.at(".") and self.at("/", 1):
            self.unsupported("'./'", "leave it out")
        if self.take("."):
            if self.at("["):
                self.unsupported("a test after '.'", "join tests by 'and'")
            return ()
        return self.steps("child")

    def literal(self) -> str | float:
        negative = self.take("-")
        token = self.token
        if token.kind == "number":
            value = float(token.written)
            if math.isinf(value):
                self.unexpected("a number of at most 1.8e308")
            self.next += 1
            return -value if negative else value
        if negative:
            self.unexpected("a number")
        if token.kind == "text":
            self.next += 1
            return token.written[1:-1]
        if token.kind == "name" and self.at("(", 1):
            self.refuse_function()
        if token.kind == "name" or self.at("@") or self.at(".") or self.at("*") or self.at(".."):
            self.unsupported("a comparison of two paths", "compare with a text or a number")
        self.unexpected("a text in quotes or a number")
