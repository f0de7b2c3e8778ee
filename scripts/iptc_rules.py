#!/usr/bin/env python
"""Translates the news rules of IPTC EXTRA into filters, and prints a table: what of each rule cannot be said exactly,
and how tests/language/test_iptc_rules.py checks the translation. `python scripts/iptc_rules.py FOLDER`, the folder with
`rules/`.

A text has the attributes title, subtitle and body, and `text_content` with all of them as its values."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from tidings.language.patterns.meaning import holds
from tidings.language.patterns.printer import print_pattern
from tidings.language.patterns.tree import (
    LONGEST_GAP,
    MOST_WORDS,
    AnyOf,
    AtLeast,
    Chain,
    Lacks,
    Link,
    Pattern,
    PatternWord,
    Phrase,
    all_of,
    any_of,
    words_in,
)
from tidings.language.printer import print_filter
from tidings.language.tree import And, ContainsPattern, Node, Not, Or, both, either
from tidings.language.words import words_of
from tidings.schema import Catalog

FIELDS = ("title", "subtitle", "body", "text_content")
SENTENCE = 20  # words, where a sentence cannot be said
_TOKEN = re.compile(r'//|\(|\)|"((?:[^"\\]|\\.)*)"|[^\s()"]+')
_PROX = re.compile(r"prox/unit=(word|sentence)/distance(<=|<|>|=)(\d+)")
_COUNT = re.compile(r"or/(count|countunique)(>=|>)(\d+)")


class Clause(NamedTuple):
    """`(title adj/stemming "red cars")`; a text alone speaks of all fields."""

    field: str
    relation: str
    modifiers: tuple[str, ...]
    text: str


class Operator(NamedTuple):
    name: str
    terms: tuple[Any, ...]  # Clauses and Operators


def read_rule(query: str) -> Clause | Operator:
    """The tree of a rule; comments stand between double slashes."""
    tokens: list[str] = []
    commented = False
    for found in _TOKEN.finditer(query):
        if found[0] == "//":
            commented = not commented
        elif not commented:
            tokens.append(found[0])
    tree, rest = _read(tokens)
    if rest:
        raise ValueError(f"more after the rule: {rest[:5]}")
    return tree


def _read(tokens: list[str]) -> tuple[Any, list[str]]:
    if not tokens or tokens[0] != "(":
        raise ValueError(f"expected '(', found {tokens[:3]}")
    tokens = tokens[1:]
    head: list[str] = []
    while tokens and tokens[0] not in "()":
        head.append(tokens[0])
        tokens = tokens[1:]
    terms = []
    while tokens and tokens[0] == "(":
        term, tokens = _read(tokens)
        terms.append(term)
    if not tokens:
        raise ValueError("a ')' is missing")
    tokens = tokens[1:]
    if terms:
        return Operator(" ".join(head) or "or", tuple(terms)), tokens
    text = json.loads('"' + head[-1][1:-1].replace("\\", "\\\\") + '"')
    if len(head) == 1:
        return Clause("text_content", "adj", (), text), tokens
    relation, *modifiers = head[1].split("/")
    return Clause(head[0], relation, tuple(modifiers), text), tokens


@dataclass
class Translation:
    """`unsaid`: what could only be said approximately."""

    unsaid: list[str] = field(default_factory=list)

    def filter(self, tree: Clause | Operator) -> Node:
        if isinstance(tree, Clause):
            return ContainsPattern(tree.field, self.pattern(tree))
        name = tree.name
        if name in ("and", "or", "not"):
            terms = [self.filter(term) for term in tree.terms]
            if name == "and":
                return _joined(terms, And)
            return _joined(terms, Or) if name == "or" else Not(_joined(terms, Or))
        if counted := _COUNT.fullmatch(name):
            return self.counted(tree, counted[1], int(counted[3]) + (counted[2] == ">"))
        if near := _PROX.fullmatch(name):
            return self.near(tree, near[1], near[2], int(near[3]))
        raise ValueError(f"unknown operator {name!r}")

    def pattern(self, clause: Clause) -> Pattern:
        if "regexp" in clause.modifiers:
            self.unsaid.append("regular expression")
            words = re.findall(r"[a-z]{2,}", re.sub(r"\\[a-z]", " ", clause.text))
            return _phrase([PatternWord(word) for word in words])
        words = [word for one in clause.text.split() for word in self.words(one, "stemming" in clause.modifiers)]
        if clause.relation == "any":
            return any_of(list(dict.fromkeys(words)))
        if clause.relation == "all":
            return all_of(list(dict.fromkeys(words)))
        return _phrase([one for word in words for one in (word.words if isinstance(word, Phrase) else (word,))])

    def words(self, written: str, stemmed: bool) -> list[Any]:
        """What stands between spaces; `anti-muslim` is a phrase of two words."""
        bare, star = written.rstrip("*"), written.endswith("*")
        if "*" in bare:
            self.unsaid.append("* inside a word")
            bare = bare.replace("*", "")
        cut = words_of(bare)
        if not cut:
            return []
        last: Any = "*" if star else "~" if stemmed else ""
        made = [PatternWord(word, "~" if stemmed else "") for word in cut[:-1]] + [PatternWord(cut[-1], last)]
        return [made[0] if len(made) == 1 else Phrase(tuple(made))]

    def counted(self, tree: Operator, kind: str, least: int) -> Node:
        by_field: dict[str, list[Pattern]] = {}
        others: list[Node] = []
        for term in tree.terms:
            if not _is_or(term):
                node = self.filter(term)
                if isinstance(node, ContainsPattern):
                    by_field.setdefault(node.attribute, []).append(node.pattern)
                else:
                    self.unsaid.append("counted conditions over several fields")
                    others.append(node)
                continue
            for one in _only_clauses(term):
                made = self.pattern(one)
                several = made.terms if one.relation == "any" and isinstance(made, AnyOf) else (made,)
                by_field.setdefault(one.field, []).extend(several)
        if kind == "count":
            self.unsaid.append("how often a word occurs")
        if len(by_field) > 1 or "text_content" in by_field:
            self.unsaid.append("words counted over several fields")
        made_nodes: list[Node] = []
        for name, found in by_field.items():
            different = list(dict.fromkeys(found))
            pattern = AtLeast(min(least, len(different)), tuple(different)) if len(different) > 1 else different[0]
            made_nodes.append(ContainsPattern(name, pattern))
        return either([*made_nodes, *others])

    def near(self, tree: Operator, unit: str, sign: str, distance: int) -> Node:
        """`distance<=3` has at most two words between."""
        if unit == "sentence":
            self.unsaid.append("sentence")
            most = SENTENCE
        elif sign == ">":
            self.unsaid.append("distance without a limit")
            most = LONGEST_GAP
        else:
            most = max(distance - (2 if sign == "<" else 1), 0)
        groups = [_only_clauses(term) for term in tree.terms]
        fields = dict.fromkeys(one.field for group in groups for one in group)
        if len(fields) > 1:
            self.unsaid.append("proximity between fields")
        name = next(iter(fields))
        operands: list[Pattern] = []
        for group in groups:
            members = [made for one in group for made in _members(self.pattern(one))]
            operands.append(any_of(members))
        return ContainsPattern(name, Chain(tuple(operands), tuple(Link("near", 0, most) for _ in operands[1:])))


def _members(pattern: Pattern) -> list[Pattern]:
    return list(pattern.terms) if isinstance(pattern, AnyOf) else [pattern]


def _phrase(words: list[PatternWord]) -> Pattern:
    return words[0] if len(words) == 1 else Phrase(tuple(words))


def _is_or(tree: Any) -> bool:
    return isinstance(tree, Clause) or (tree.name == "or" and all(map(_is_or, tree.terms)))


def _only_clauses(tree: Any) -> list[Clause]:
    """The clauses of an `or`."""
    if isinstance(tree, Clause):
        return [tree]
    if tree.name != "or":
        raise ValueError(f"{tree.name!r} inside an operator that counts or measures")
    return [clause for term in tree.terms for clause in _only_clauses(term)]


def _joined(terms: list[Node], by: Any) -> Node:
    """Patterns of one field become one, where that means the same; a field with several values only by `or`."""
    left: list[Node] = []
    merged: dict[str, list[Pattern]] = {}
    for term in terms:
        for one in term.terms if isinstance(term, by) else (term,):
            inner = one.term if isinstance(one, Not) else one
            single = isinstance(inner, ContainsPattern) and inner.attribute != "text_content"
            if single and isinstance(one, Not):
                merged.setdefault(inner.attribute, []).append(Lacks(inner.pattern))
            elif single or (by is Or and isinstance(one, ContainsPattern)):
                merged.setdefault(inner.attribute, []).append(inner.pattern)
            else:
                left.append(one)
    for name, patterns in merged.items():
        for some in _cut(list(dict.fromkeys(patterns))):
            made = any_of(some) if by is Or else all_of(some)
            negated = isinstance(made, Lacks)
            left.append(Not(ContainsPattern(name, made.term)) if negated else ContainsPattern(name, made))
    return either(left) if by is Or else both(left)


def _cut(patterns: list[Pattern]) -> list[list[Pattern]]:
    """Groups of at most as many words as a pattern may have."""
    groups: list[list[Pattern]] = [[]]
    used = 0
    for pattern in patterns:
        count = sum(1 for _ in words_in(pattern))
        if used + count > MOST_WORDS and groups[-1]:
            groups.append([])
            used = 0
        groups[-1].append(pattern)
        used += count
    return groups


def translated(query: str) -> tuple[str, list[str]]:
    """The filter's text, and what could only be said approximately."""
    translation = Translation()
    node = translation.filter(read_rule(query))
    return print_filter(node), list(dict.fromkeys(translation.unsaid))


def passes(tree: Clause | Operator, texts: dict[str, str], language: str) -> bool:
    """What a rule means, step by step on its own tree: the check of the translation."""
    if isinstance(tree, Clause):
        pattern = Translation().pattern(tree)
        names = FIELDS[:3] if tree.field == "text_content" else (tree.field,)
        return any(holds(pattern, words_of(texts[name]), language) for name in names if name in texts)
    if tree.name == "and":
        return all(passes(term, texts, language) for term in tree.terms)
    if tree.name == "or":
        return any(passes(term, texts, language) for term in tree.terms)
    if tree.name == "not":
        return not any(passes(term, texts, language) for term in tree.terms)
    return _node_passes(Translation().filter(tree), texts, language)


def _node_passes(node: Any, texts: dict[str, str], language: str) -> bool:
    """For what counts or measures, which is said once."""
    if isinstance(node, And):
        return all(_node_passes(term, texts, language) for term in node.terms)
    if isinstance(node, Or):
        return any(_node_passes(term, texts, language) for term in node.terms)
    if isinstance(node, Not):
        return not _node_passes(node.term, texts, language)
    names = FIELDS[:3] if node.attribute == "text_content" else (node.attribute,)
    return any(holds(node.pattern, words_of(texts[name]), language) for name in names if name in texts)


def schema(language: str) -> Catalog:
    several = [{"name": name, "mandatory": False, "unique": name != "text_content"} for name in FIELDS]
    return Catalog.from_dict(
        {
            "domains": [{"name": "text", "kind": "text", "language": language}],
            "attributes": [{"name": name, "domain": "text"} for name in FIELDS],
            "event_types": [{"name": "story", "attributes": several}],
        }
    )


def rules(folder: Path, language: str) -> list[dict[str, str]]:
    lines = (folder / "rules" / f"IPTC-Media-Topics-{language}.txt").read_text().splitlines()
    return [json.loads(line) for line in lines if line.strip()]


def main() -> None:
    from tidings.language import Filter

    print("| rule | topic | said exactly | only approximately | checked against | alternatives | characters |")
    print("|---|---|---|---|---|---|---|")
    for language in ("english", "german"):
        for number, rule in enumerate(rules(Path(sys.argv[1]), language)):
            text, unsaid = translated(rule["query"])
            bound = Filter.parse(text, schema(language))
            print(
                f"| {language} {number + 1} | {rule['topicId']} | {'no' if unsaid else 'yes'} | {', '.join(unsaid)} "
                f"| {'its own tree' if unsaid else 'a second reading'} | {len(bound.conjunctions)} | {len(text):,} |"
            )


__all__ = ["passes", "print_pattern", "read_rule", "rules", "schema", "translated"]

if __name__ == "__main__":
    main()
