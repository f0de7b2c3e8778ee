"""Payloads of the journal in, an `EventBatch` out; decoders are kept from call to call. Loads no compiled code."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from tidings.events import EventBatch
from tidings.events.decoder import EventDecoder
from tidings.schema import Catalog

_MOST_DECODERS = 2
_decoders: list[EventDecoder] = []  # those used last, the last one first


def read_payloads(
    payloads: list[str], positions: Any, accepted: Any, catalog: Catalog
) -> tuple[EventBatch, list[dict[str, Any]]]:
    """The events of a stretch of the journal, and what cannot be read (the journal was damaged, or written by hand)."""
    batch, problems = decoder_of(catalog).decode(payloads, positions)
    places = np.searchsorted(positions.to_numpy(), batch.positions.to_numpy())
    batch = replace(batch, accepted=accepted.take(pa.array(places)))
    return batch, [{"position": position, "problem": problem} for position, problem in problems]


def decoder_of(catalog: Catalog) -> EventDecoder:
    """The decoder for this catalog, the one used before if there is one."""
    for decoder in _decoders:
        if decoder.catalog is catalog:  # comparing large catalogs takes longer than making a decoder
            return decoder
    _decoders.insert(0, EventDecoder(catalog))
    del _decoders[_MOST_DECODERS:]
    return _decoders[0]
