"""Whole tables and batches to the bytes of text files, column by column: no Python object per line.

Each function gives one Arrow array of strings, a line each with its newline, whose data buffer is the file's content as it stands.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tidings.events import EventBatch
from tidings.events.arrays import is_list, lists
from tidings.matching.predicate_table import PredicateTable, number_texts
from tidings.schema import Domain, Kind
from tidings.schema.catalog import EVENT_TYPE
from tidings.workloads.columns import names
