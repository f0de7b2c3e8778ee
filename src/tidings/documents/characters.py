"""The kernels that `tokenizer` reads and copies characters with. Places are bytes of a well-formed document."""

from __future__ import annotations

from typing import Any

import numpy as np

from tidings.kernels.compiled import bare_inlined

TEXT_AT, VALUE_AT, NAMES = 0, 1, 2  # places in the array of counts: bytes of text, bytes of values, names
AMP, LT, GT, SLASH, EQUALS, QUOTE, APOSTROPHE, CR = 38, 60, 62, 47, 61, 34, 39, 13
_SEMICOLON, _HASH, _LF, _SPACE = 59, 35, 10, 32


@bare_inlined
def after(source: Any, i: Any, first: Any, second: Any) -> Any:
    """One past the next `first` that `second` follows; what ends a comment, an instruction or CDATA."""
    while source[i] != first or source[i + 1] != second:
        i += 1
    return i + 2


@bare_inlined
def blanks(source: Any, i: Any) -> Any:
    while source[i] == _SPACE or source[i] == _LF or source[i] == 9 or source[i] == CR:
        i += 1
    return i


@bare_inlined
def name_end(source: Any, i: Any) -> Any:
    while True:
        byte = source[i]
        if byte <= _SPACE or byte == SLASH or byte == GT or byte == EQUALS:
            return i
        i += 1


@bare_inlined
def value_start(source: Any, i: Any) -> Any:
    """The opening quote."""
    while source[i] != QUOTE and source[i] != APOSTROPHE:
        i += 1
    return i


@bare_inlined
def put_character(source: Any, i: Any, text: Any, counts: Any, where: Any) -> Any:
    """Copies one byte, line ends as XML has them; returns the next place."""
    byte = source[i]
    if byte == CR:
        byte = np.uint8(_LF)
        if i + 1 < len(source) and source[i + 1] == _LF:
            i += 1
    text[counts[where]] = byte
    counts[where] += 1
    return i + 1


@bare_inlined
def put_run(source: Any, i: Any, text: Any, counts: Any, where: Any) -> Any:
    """Copies all characters up to markup, a reference or the end of a line by CR; returns that place."""
    at = counts[where]
    while i < len(source):
        byte = source[i]
        if byte == LT or byte == AMP or byte == CR:
            break
        text[at] = byte
        at += 1
        i += 1
    counts[where] = at
    return i


@bare_inlined
def put_reference(source: Any, i: Any, text: Any, counts: Any, where: Any) -> Any:
    """Copies what a reference stands for; returns the next place, or its negative place if it is not known."""
    stop = i
    while source[stop] != _SEMICOLON:
        stop += 1
    length = stop - i - 1
    first = source[i + 1]
    if first == _HASH:
        put_code_point(code_point(source, i + 2, stop), text, counts, where)
        return stop + 1
    second, third = source[i + 2], source[i + 3]
    character = 0
    if length == 2 and second == 116:  # lt, gt
        character = 60 if first == 108 else 62 if first == 103 else 0
    elif length == 3 and first == 97 and second == 109 and third == 112:
        character = AMP
    elif length == 4 and first == 97 and second == 112 and third == 111 and source[i + 4] == 115:
        character = APOSTROPHE
    elif length == 4 and first == 113 and second == 117 and third == 111 and source[i + 4] == 116:
        character = QUOTE
    if character == 0:
        return -i
    text[counts[where]] = character
    counts[where] += 1
    return stop + 1


@bare_inlined
def code_point(source: Any, i: Any, stop: Any) -> Any:
    value, base = np.int64(0), 10
    if source[i] == 120:
        base, i = 16, i + 1
    for place in range(i, stop):
        digit = np.int64(source[place])
        value = value * base + (digit - 48 if digit < 58 else (digit | 32) - 87)
    return value


@bare_inlined
def put_code_point(value: Any, text: Any, counts: Any, where: Any) -> Any:
    """As UTF-8."""
    at = counts[where]
    if value < 0x80:
        text[at] = value
        counts[where] = at + 1
    elif value < 0x800:
        text[at], text[at + 1] = 0xC0 | value >> 6, 0x80 | value & 63
        counts[where] = at + 2
    elif value < 0x10000:
        text[at], text[at + 1], text[at + 2] = 0xE0 | value >> 12, 0x80 | value >> 6 & 63, 0x80 | value & 63
        counts[where] = at + 3
    else:
        text[at], text[at + 1] = 0xF0 | value >> 18, 0x80 | value >> 12 & 63
        text[at + 2], text[at + 3] = 0x80 | value >> 6 & 63, 0x80 | value & 63
        counts[where] = at + 4


@bare_inlined
def put_value(source: Any, opened: Any, text: Any, counts: Any) -> Any:
    """Copies an attribute's value, blanks as XML has them; returns the closing quote, or as `put_reference`."""
    quote = source[opened]
    i = opened + 1
    at = counts[VALUE_AT]
    while source[i] != quote:
        byte = source[i]
        if byte == AMP:
            counts[VALUE_AT] = at
            i = put_reference(source, i, text, counts, VALUE_AT)
            if i < 0:
                return i
            at = counts[VALUE_AT]
        else:
            if byte == CR and source[i + 1] == _LF:
                i += 1
            text[at] = _SPACE if byte < _SPACE else byte  # a tab or the end of a line
            at += 1
            i += 1
    counts[VALUE_AT] = at
    return i


@bare_inlined
def same_bytes(source: Any, start: Any, stop: Any, other: Any, other_stop: Any) -> Any:
    if stop - start != other_stop - other:
        return False
    for i in range(stop - start):
        if source[start + i] != source[other + i]:
            return False
    return True
