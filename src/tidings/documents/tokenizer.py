"""A well-formed document into flat arrays, in one pass over its bytes. `batch` calls it after expat has checked it.

Well-formedness is not checked again; limits are, and the entities that expat passes over when a document names an
external declaration."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tidings.documents.characters import (
    AMP,
    APOSTROPHE,
    CR,
    GT,
    LT,
    NAMES,
    QUOTE,
    SLASH,
    TEXT_AT,
    VALUE_AT,
    after,
    blanks,
    name_end,
    put_character,
    put_reference,
    put_run,
    put_value,
    same_bytes,
    value_start,
)
from tidings.documents.names import ATTRIBUTE, ELEMENT, NAMESPACE, intern
from tidings.kernels.compiled import bare_inlined, bare_kernel

DEPTH, NODES, ENTITY, NAMESPACES, FULL = 1, 2, 3, 4, 5  # why it ends early; FULL: more names than there is room for
_XML_NAMESPACE = np.frombuffer(b"http://www.w3.org/XML/1998/namespace", np.uint8)
_COLON, _BANG, _QUESTION, _BRACKET, _DASH = 58, 33, 63, 91, 45
_TEXT_NODE = 0  # the number of the name that texts have


class Nodes(NamedTuple):
    name: npt.NDArray[np.int32]
    parent: npt.NDArray[np.int32]  # -1: a root element
    end: npt.NDArray[np.int32]  # one past the last node within
    start: npt.NDArray[np.int64]  # the string value is text[start:stop]
    stop: npt.NDArray[np.int64]
    text: npt.NDArray[np.uint8]


@bare_kernel
def tokenize(
    source: Any, spaces: Any, seed: Any, depth_limit: Any, node_limit: Any, node: Any, nodes: Any, names: Any,
    scope: Any, counts: Any,
) -> Any:  # fmt: skip
    """Appends from `node` on; returns the next node, 0 or why it is refused, and where.

    `spaces`: whether namespaces are declared. `scope` has a row for each declaration in force: the prefix in the
    source, the namespace's number plus one, the element that it is on. `counts`: bytes of text and of values, names."""
    i, depth, current, declared, in_text = 0, 0, -1, 0, False
    length = len(source)
    while i < length:
        byte = source[i]
        if byte != LT:
            if current < 0:
                i += 1
                continue
            if not in_text:
                if node == node_limit:
                    return node, NODES, i
                in_text = True
                open_node(nodes, node, _TEXT_NODE, current, counts[TEXT_AT])
                node += 1
            if byte == AMP:
                i = put_reference(source, i, nodes.text, counts, TEXT_AT)
                if i < 0:
                    return node, ENTITY, -i
            elif byte == CR:
                i = put_character(source, i, nodes.text, counts, TEXT_AT)
            else:
                i = put_run(source, i, nodes.text, counts, TEXT_AT)
            nodes.stop[node - 1] = counts[TEXT_AT]
            continue
        byte = source[i + 1]
        if byte == _QUESTION:
            i = after(source, i + 2, _QUESTION, GT)
        elif byte == _BANG and source[i + 2] == _BRACKET:
            stop = after(source, i + 9, 93, GT) - 3  # ]]>
            i += 9
            if i < stop and not in_text:
                if node == node_limit:
                    return node, NODES, i
                in_text = True
                open_node(nodes, node, _TEXT_NODE, current, counts[TEXT_AT])
                node += 1
            while i < stop:
                i = put_character(source, i, nodes.text, counts, TEXT_AT)
                nodes.stop[node - 1] = counts[TEXT_AT]
            i = stop + 3
        elif byte == _BANG and source[i + 2] == _DASH:  # a comment
            i = after(source, i + 4, _DASH, GT)
        elif byte == _BANG:  # a document type without declarations
            quote = np.int64(0)
            while quote or source[i] != GT:
                if quote:
                    quote = np.int64(0) if source[i] == quote else quote
                elif source[i] == QUOTE or source[i] == APOSTROPHE:
                    quote = np.int64(source[i])
                i += 1
            i += 1
        elif byte == SLASH:
            in_text = False
            nodes.stop[current], nodes.end[current] = counts[TEXT_AT], node
            while declared and scope[declared - 1, 3] == current:
                declared -= 1
            current = nodes.parent[current]
            depth -= 1
            while source[i] != GT:
                i += 1
            i += 1
        else:
            in_text = False
            depth += 1
            if depth > depth_limit:
                return node, DEPTH, i
            if node == node_limit:
                return node, NODES, i
            name_start = i + 1
            i = name_end(source, name_start)
            if spaces:
                declared = declare(source, i, node, names, seed, nodes.text, scope, declared, counts)
                if declared < 0:
                    return node, NAMESPACES if declared == -1 else FULL, i
            if counts[NAMES] + 2 > len(names.hash):
                return node, FULL, i
            name = qualified(source, name_start, i, ELEMENT, names, seed, scope, declared, counts)
            open_node(nodes, node, name, current, counts[TEXT_AT])
            current = node
            node += 1
            i = blanks(source, i)
            while source[i] != GT and source[i] != SLASH:
                start = i
                i = name_end(source, i)
                stop = i
                opened = value_start(source, i)
                if spaces and is_declaration(source, start, stop):
                    i = opened + 1
                    while source[i] != source[opened]:
                        i += 1
                else:
                    if node == node_limit:
                        return node, NODES, start
                    if counts[NAMES] + 2 > len(names.hash):
                        return node, FULL, start
                    name = qualified(source, start, stop, ATTRIBUTE, names, seed, scope, declared, counts)
                    open_node(nodes, node, name, current, counts[VALUE_AT])
                    i = put_value(source, opened, nodes.text, counts)
                    if i < 0:
                        return node, ENTITY, -i
                    nodes.stop[node] = counts[VALUE_AT]
                    node += 1
                i = blanks(source, i + 1)
            if source[i] == SLASH:
                nodes.stop[current], nodes.end[current] = counts[TEXT_AT], node
                while declared and scope[declared - 1, 3] == current:
                    declared -= 1
                current = nodes.parent[current]
                depth -= 1
                i += 1
            i += 1
    return node, 0, 0


@bare_inlined
def open_node(nodes: Any, node: Any, name: Any, parent: Any, start: Any) -> Any:
    nodes.name[node], nodes.parent[node], nodes.end[node] = name, parent, node + 1
    nodes.start[node] = nodes.stop[node] = start


@bare_inlined
def is_declaration(source: Any, start: Any, stop: Any) -> Any:
    """Whether the attribute is `xmlns` or begins with `xmlns:`."""
    if stop - start < 5 or (stop - start > 5 and source[start + 5] != _COLON):
        return False
    return (
        source[start] == 120
        and source[start + 1] == 109
        and source[start + 2] == 108
        and source[start + 3] == 110
        and source[start + 4] == 115
    )


@bare_kernel
def declare(
    source: Any, i: Any, node: Any, names: Any, seed: Any, text: Any, scope: Any, declared: Any, counts: Any
) -> Any:  # fmt: skip
    """Puts the start tag's declarations into scope, before its names are looked up; -1: too many, -2: no room."""
    i = blanks(source, i)
    while source[i] != GT and source[i] != SLASH:
        start = i
        stop = name_end(source, i)
        opened = value_start(source, stop)
        i = opened + 1
        while source[i] != source[opened]:
            i += 1
        if is_declaration(source, start, stop):
            if declared == len(scope):
                return -1
            if counts[NAMES] + 1 > len(names.hash):
                return -2
            value = counts[VALUE_AT]
            put_value(source, opened, text, counts)
            scope[declared, 0] = min(start + 6, stop)
            scope[declared, 1] = stop
            scope[declared, 3] = node
            scope[declared, 2] = 0
            if counts[VALUE_AT] > value:
                number = intern(names, seed, counts[NAMES], NAMESPACE, 0, text, value, counts[VALUE_AT])
                counts[NAMES] = max(counts[NAMES], number + 1)
                scope[declared, 2] = number + 1
            declared += 1
        i = blanks(source, i + 1)
    return declared


@bare_inlined
def qualified(
    source: Any, start: Any, stop: Any, kind: Any, names: Any, seed: Any, scope: Any, declared: Any, counts: Any
) -> Any:  # fmt: skip
    """The number of a name; its prefix is looked up among the declarations in scope, the last ones first."""
    colon = start
    while colon < stop and source[colon] != _COLON:
        colon += 1
    space = np.int64(0)
    if colon < stop or (kind == ELEMENT and declared):
        prefix_stop = colon if colon < stop else start
        row = declared - 1
        while row >= 0 and not same_bytes(source, scope[row, 0], scope[row, 1], start, prefix_stop):
            row -= 1
        if row >= 0:
            space = scope[row, 2]
        elif colon < stop:  # only `xml` needs no declaration
            number = intern(names, seed, counts[NAMES], NAMESPACE, 0, _XML_NAMESPACE, 0, len(_XML_NAMESPACE))
            counts[NAMES] = max(counts[NAMES], number + 1)
            space = number + 1
        if colon < stop:
            start = colon + 1
    number = intern(names, seed, counts[NAMES], kind, space, source, start, stop)
    counts[NAMES] = max(counts[NAMES], number + 1)
    return number
