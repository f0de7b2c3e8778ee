"""Pattern to canonical text: parsing it gives the pattern again."""

from __future__ import annotations

from typing import assert_never

from tidings.language.patterns.parser import KEYWORDS
from tidings.language.patterns.tree import AllOf, AnyOf, AtLeast, Chain, Lacks, Link, Pattern, PatternWord, Phrase


def print_pattern(pattern: Pattern) -> str:
    match pattern:
        case PatternWord(word, form):
            return f'"{word}{form}"' if word in KEYWORDS else f"{word}{form}"
        case Phrase(words):
            return '"' + " ".join(f"{one.word}{one.form}" for one in words) + '"'
        case Chain(operands, links):
            made = _grouped(operands[0], AnyOf)
            for link, operand in zip(links, operands[1:], strict=True):
                made += f" {_link(link)} {_grouped(operand, AnyOf)}"
            return made
        case AllOf(terms):
            return " and ".join(_grouped(term, AnyOf) for term in terms)
        case AnyOf(terms):
            return " or ".join(map(print_pattern, terms))
        case Lacks(term):
            return f"not {_grouped(term, AllOf, AnyOf)}"
        case AtLeast(count, terms):
            return f"at least {count} of ({', '.join(map(print_pattern, terms))})"
        case _:
            assert_never(pattern)


def _grouped(pattern: Pattern, *kinds: type[Pattern]) -> str:
    text = print_pattern(pattern)
    return f"({text})" if isinstance(pattern, kinds) else text


def _link(link: Link) -> str:
    return f"near[{link.most}]" if link.kind == "near" else f"<[{link.least},{link.most}]"
