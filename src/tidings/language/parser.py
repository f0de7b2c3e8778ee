"""Text to tree: a hand-written recursive descent, one function per line of the grammar.

filter     = any_of end
any_of     = all_of { "or" all_of }
all_of     = unary { "and" unary }
unary      = "not" unary | "(" any_of ")" | predicate
predicate  = name ( operator operand | "exists" | [ "not" ] relation )
operand    = value | [ number "*" ] name [ ( "+" | "-" ) number [ unit ] ]   (after an operator)
relation   = "in" "(" operand { "," operand } ")" | "between" operand "and" operand | "under" operand
           | "near" "(" number "," number ")" "within" number unit | "inside" "(" four numbers ")"
           | ( "starts" "with" | "ends" "with" | "like" ) text
           | "~" text "at" "least" number
           | "xpath" text
           | "contains" ( operand | ( "any" | "all" ) text | "(" pattern ")" )
           | [ "checked" | "translated" ] ( "cesql" | "cloudevents" ) text   (of event_type)
"""

from __future__ import annotations

from typing import NoReturn

from tidings.errors import one_of
from tidings.language.cursor import Cursor
from tidings.language.errors import NestedTooDeeply
from tidings.language.predicates import FORMS
from tidings.language.predicates.kind import Form
from tidings.language.tree import Node, Not, both, either

DEEPEST = 100

_OFFERED = {opening: form for opening, form in FORMS.items() if form.offered}
_MEANT = {"==": "'='", "<>": "'!='"}


def parse(text: str) -> Node:
    """The tree of a filter's text; raises LanguageError at the first place that is wrong."""
    return FilterParser(text).filter()


class FilterParser(Cursor):
    """One method per line of the grammar; composites read the filters in their brackets with it."""

    __slots__ = ("depth",)

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.depth = 0

    def filter(self) -> Node:
        tree = self.any_of()
        if self.kinds[self.next] != "end":
            self.unexpected("'and', 'or' or the end of the filter")
        return tree

    def any_of(self) -> Node:
        terms = [self.all_of()]
        while self.written[self.next] == "or":
            self.next += 1
            terms.append(self.all_of())
        return terms[0] if len(terms) == 1 else either(terms)

    def all_of(self) -> Node:
        terms = [self.unary()]
        while self.written[self.next] == "and":  # a keyword: no other token is written like one
            self.next += 1
            terms.append(self.unary())
        return terms[0] if len(terms) == 1 else both(terms)

    def unary(self) -> Node:
        kind = self.kinds[self.next]
        if kind == "name" or kind == "quoted":
            return self.predicate()
        term: Node
        if self.keyword("not"):
            self.descend()
            # `not (` is one level, so that the canonical text is never nested deeper than what was read
            term = Not(self.group() if self.at_mark("(") else self.unary())
        elif self.at_mark("("):
            self.descend()
            term = self.group()
        else:
            self.no_form("an attribute, 'not' or '('")
        self.depth -= 1
        return term

    def group(self) -> Node:
        self.next += 1
        inner = self.any_of()
        self.mark(")", "'and', 'or' or ')'")
        return inner

    def descend(self) -> None:
        self.depth += 1
        if self.depth > DEEPEST:
            raise NestedTooDeeply(self.text, self.offsets[self.next], DEEPEST)

    def predicate(self) -> Node:
        at = self.offsets[self.next]
        attribute = self.name()
        form = self.form()
        if form is not None:
            self.next += 1
            return form.parse(self, attribute, at)
        if not self.keyword("not"):
            self.no_form(_MEANT.get(self.written[self.next]) or f"an operator ({' '.join(_OFFERED)})")
        form = self.form()
        if form is None or not form.after_not:
            self.no_form(one_of(opening for opening, form in _OFFERED.items() if form.after_not))
        self.next += 1
        return Not(form.parse(self, attribute, at))

    def form(self) -> Form | None:
        """The one that the next token opens: a sign, a keyword, or a name that is one only here."""
        written = self.written[self.next]  # no other token is written like a sign or a keyword
        return FORMS.get(written) or (FORMS.get(written.lower()) if self.kinds[self.next] == "name" else None)

    def no_form(self, expected: str) -> NoReturn:
        self.unexpected(expected)
