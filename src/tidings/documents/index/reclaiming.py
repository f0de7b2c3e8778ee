"""Dropping what only withdrawn paths needed: operations, texts and names. All that is left gets new numbers.

Without it, an index whose paths come and go would grow for ever, however few it holds at a time."""

from __future__ import annotations

import numpy as np

from tidings.documents.index.entries import Columns
from tidings.documents.index.keys import EQUALS, EXISTS
from tidings.documents.index.program import Program
from tidings.documents.index.segment import Rows
from tidings.documents.index.values import Texts
from tidings.documents.index.vocabulary import Vocabulary


def reclaim(rows: Rows, vocabulary: Vocabulary, program: Program, texts: Texts) -> Rows:
    """`rows` are all paths of the index; the same paths with the new numbers."""
    rest, left, kind, column, bound = rows.columns
    tested = rest >= 0
    by_text, by_label = tested & (kind == EQUALS), tested & (kind > EQUALS) & (column >= 0)
    compared = column[tested & (kind > EQUALS) & (kind < EXISTS)]
    needed = program.needed_by(np.concatenate((rest, left)))
    used = (rows.tokens >> 1, column[by_label], program.arrays().label[needed], texts.labels_of(column[by_text]))
    spoken = np.unique(np.concatenate(used))
    labels = vocabulary.keep(spoken[spoken >= 0].tolist())
    operations = program.keep(needed, labels)
    numbers = texts.keep(column[by_text], compared, labels)
    column = column.copy()
    column[by_text], column[by_label] = numbers[column[by_text]], labels[column[by_label]]
    tokens = (2 * labels[rows.tokens >> 1] + (rows.tokens & 1)).astype(np.int32)
    columns = Columns(operations[rest].astype(np.int32), operations[left].astype(np.int32), kind, column, bound)
    return rows._replace(tokens=tokens, columns=columns)
