"""The A-MEDIAS profile language (figures 9.8 and 9.9 of its description) read into the same trees.

profile = "PROFILE" "(" content ")" [ "USING" name ]     (the name of an application profile: ours)
content = "PRI" "(" test { "," test } [ "," "TYPE" "=" type ] ")"
        | "COMP" "(" content [ "," eis ] ( "OR" | "AND" | "BEFORE" | "WITH" ) content [ "," eis ]
          [ "," "MULTI" "=" eic ] [ "," times ] [ "," "EVAL" "=" ( "CONTINUOUS" | "FINAL" ) ] ")"
        | "SELECT" "(" content "," "NUMBER" "=" integer [ "," eic ] [ "," times ] ")"
        | "NOT" "(" content [ "," eic ] "," times ")"
test    = name ( "=" | ">" | "<" | ">=" | "<=" ) value | name "<>" value "and" value
        | name "->" "(" value { "," value } ")"
type    = name | "TIMEPROFILE" [ "," "TIMEZONE" "=" ( "+" | "-" ) hours "." minutes ]
times   = "EVALTIME" "=" frame [ "," "STARTTIME" "=" clock ] [ "," "MAXTIME" "=" frame ]
eis     = "FIRST" | "LAST" | "ALL" | integer
eic     = "ALL-PAIRS" | "UNIQUE-PAIRS"
clock   = hours ":" minutes ":" seconds | "0"
frame   = "'" number unit "'"
"""

from __future__ import annotations

from tidings.language.composites.amedias.parameters import ParameterParser, Parameters
from tidings.language.composites.chains import TOGETHER
from tidings.language.composites.errors import AbsenceTooShort, CompositeTooDeep, NotTranslatable
from tidings.language.composites.limits import LIMITS, CompositeLimits
from tidings.language.composites.profiles import Defaults, Profiles
from tidings.language.composites.tree import (
    ALL,
    Absent,
    Before,
    Both,
    Composite,
    Either,
    Nth,
    Part,
    Root,
    Select,
    Selection,
    Unless,
    Without,
)
from tidings.schema.values import Instant, Span

_OPERATORS = ("or", "and", "before", "with")


def parse_profile(
    text: str, defined: Instant, limits: CompositeLimits = LIMITS, profiles: Profiles | None = None
) -> Composite:
    """The composite that a profile means, defined at this time; raises LanguageError. `profiles` are those that it may
    inherit from."""
    return _ProfileParser(text, defined, limits, profiles or {}).profile()


class _ProfileParser(ParameterParser):
    __slots__ = ()

    def profile(self) -> Composite:
        self.opening("PROFILE")
        tree: Root
        if self.at_word("not"):
            term, parameters = self.negation()
            assert parameters.within is not None
            if parameters.within < self.limits.absence:
                place = parameters.places.get("EVALTIME", parameters.places["NOT"])
                raise AbsenceTooShort(self.text, place, self.limits.absence)
            tree = Absent(term, parameters.within, parameters.places["NOT"])
        else:
            tree = self.content()
        self.mark(")", "')'")
        if self.defaults is not None and self.word("using"):
            self.next += 1
        if self.kinds[self.next] != "end":
            self.unexpected("the end of the profile or USING with the name of an application profile")
        return Composite(tree, (), self.start_of_all, self.span_of_all)

    def content(self) -> Part:
        match self.peeked():
            case "pri":
                return self.primitive()
            case "comp":
                return self.composition()
            case "select":
                return self.selection_of_one()
            case "not":
                instead = "write COMP(P BEFORE NOT(Q, EVALTIME = …)), or NOT(…) as the whole profile"
                self.refuse(self.next, "NOT here", instead)
            case _:
                self.unexpected("'PRI(', 'COMP(', 'SELECT(' or 'NOT('")

    def composition(self) -> Part:
        at = self.offsets[self.next]
        self.deeper()
        self.opening("COMP")
        left = self.content()
        left_selection = self.chosen()
        operator = self.peeked()
        if operator not in _OPERATORS:
            self.unexpected("OR, AND, BEFORE or WITH")
        operator_place = self.next
        self.next += 1
        if self.at_word("not"):
            return self.unless(left, operator_place, at, left_selection)
        right = self.content()
        right_selection = self.chosen()
        parameters = self.parameters(("MULTI", "EVALTIME", "EVAL"), "COMP")
        self.level -= 1
        if operator == "or":
            self.only_defaults(Select(left_selection or "all", right_selection or "all"), parameters, "OR")
            self.refuse_needless_frame(parameters, (left, right), "OR", "leave it out: a single event has no duration")
            return Either(left, right, parameters.within, at)
        within = parameters.within or (TOGETHER if operator == "with" else self.inherited_frame())
        if within is None:
            word = operator.upper()
            self.refuse(self.next - 1, f"{word} without EVALTIME", f"write e.g. COMP(P {word} Q, EVALTIME = '10 min')")
        inherited = self.defaults or Defaults(within)
        select = Select(left_selection or inherited.select.left, right_selection or inherited.select.right)
        unique = inherited.unique if parameters.unique is None else parameters.unique
        final = inherited.final if parameters.final is None else parameters.final
        return (Before if operator == "before" else Both)(left, right, within, select, unique, final, at=at)

    def unless(self, left: Part, operator_place: int, at: int, left_selection: Selection | None) -> Part:
        """`COMP(P BEFORE NOT(Q, EVALTIME = '30 min'))`: the frame of NOT is that of the whole."""
        operator = self.written[operator_place].upper()
        if operator != "BEFORE":
            self.refuse(operator_place, f"{operator} with NOT", "write COMP(P BEFORE NOT(Q, EVALTIME = …))")
        forbidden, negated = self.negation()
        assert negated.within is not None
        select = Select(left_selection or "all", self.chosen() or "all")
        parameters = self.parameters(("MULTI", "EVALTIME", "EVAL"), "COMP")
        self.level -= 1
        self.only_defaults(select, parameters, "BEFORE NOT")
        if parameters.within not in (None, negated.within):
            instead = "leave out the EVALTIME of COMP; that of NOT is the frame"
            raise NotTranslatable(self.text, parameters.places["EVALTIME"], "another frame than that of NOT", instead)
        return Unless(left, Without(forbidden), negated.within, at=at)

    def selection_of_one(self) -> Part:
        at = self.offsets[self.next]
        self.deeper()
        self.opening("SELECT")
        term = self.content()
        self.mark(",", "',' and NUMBER")
        self.assignment("NUMBER")
        n = self.count("after NUMBER =", 1, self.limits.nth)
        parameters = self.parameters(("pairs", "EVALTIME"), "SELECT")
        self.level -= 1
        self.only_defaults(ALL, parameters, "SELECT")
        self.refuse_needless_frame(parameters, (term,), "SELECT", "SELECT counts from the start, so leave it out")
        return Nth(term, n, parameters.within, at)

    def negation(self) -> tuple[Part, Parameters]:
        number = self.next
        self.deeper()
        self.opening("NOT")
        term = self.content()
        parameters = self.parameters(("pairs", "EVALTIME"), "NOT")
        self.level -= 1
        self.only_defaults(ALL, parameters, "NOT")
        parameters.within = parameters.within or self.inherited_frame()
        if parameters.within is None:
            self.refuse(number, "NOT without EVALTIME", "write e.g. NOT(P, EVALTIME = '30 min')")
        parameters.places["NOT"] = self.offsets[number]
        return term, parameters

    def inherited_frame(self) -> Span | None:
        return None if self.defaults is None else self.defaults.within

    def deeper(self) -> None:
        self.level += 1
        if self.level > self.limits.depth:
            raise CompositeTooDeep(self.text, self.offsets[self.next], self.limits.depth)
