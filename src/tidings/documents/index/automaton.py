"""The paths of a segment as a deterministic automaton, whose states are made when a document first needs them.

A document that needs many new states is left to `simulate`, and the automaton is dropped and begins again when it has
grown too large: memory is bounded, and answers are the same.

States are told apart by two sums of random numbers, 40 bits each, over each of their two sets. That two states fall
together is less likely than that memory fails."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tidings.documents.index.entries import Entries
from tidings.documents.index.pool import Pool
from tidings.documents.index.simulate import Tested
from tidings.documents.index.trie import Numbers, Trie
from tidings.documents.index.walk import SIMULATED, expand, note_tests, put_transition, rehash, walk
from tidings.documents.names import ELEMENT


class AutomatonLimits(NamedTuple):
    states: int = 20_000
    new_states: int = 1_000  # for one document
    places: int = 50_000_000  # members of all states' sets


class Automaton:
    def __init__(self, trie: Trie, entries: Entries, limits: AutomatonLimits) -> None:
        self._trie, self._entries, self._limits = trie, entries, limits
        size = len(trie.parent)
        self._new_lists = np.empty(len(entries.list_label), np.int32)
        self._mix = np.random.default_rng().integers(1, 1 << 40, (size, 2))
        self._stamps, self._tick = np.zeros(size, np.int64), 0
        self._new_active, self._new_waiting = np.empty(size, np.int32), np.empty(size, np.int32)
        self._begin()

    def _begin(self) -> None:
        self._known: dict[tuple[int, ...], int] = {}
        self._sums: list[tuple[int, int]] = []  # by state: of what waits
        self._chains: list[int] = []
        self._active_pool, self._waiting_pool = Pool(np.int32), Pool(np.int32)
        self._active_ends, self._list_ends = Pool(np.int64), Pool(np.int64)
        self._chunks = Pool(np.int64, 3)
        self._lists, self._flags = Pool(np.int32), Pool(np.int8)
        self._bits = Pool(np.uint64, (self._entries.places + 63) // 64 or 1)
        for ends in (self._active_ends, self._list_ends):
            ends.add(np.zeros(1, np.int64))
        self._keys, self._targets = np.zeros(1024, np.int64), np.empty(1024, np.int32)
        self._transitions = 0
        first = np.zeros(1, np.int32)
        edges = self._trie.descendants.offsets
        self._add(first, first[: int(edges[1] > 0)], -1, (-1, -1, -1, -1))

    def __len__(self) -> int:
        return len(self._chains)

    def full(self) -> bool:
        pools = (self._active_pool, self._waiting_pool, self._lists)
        return len(self) > self._limits.states or sum(len(pool) for pool in pools) > self._limits.places

    def restart(self) -> None:
        self._begin()

    def states(self, offsets: Any, nodes: Any, kinds: Any, labels: Any) -> npt.NDArray[np.int32]:
        """The state of each node; SIMULATED for all nodes of some documents."""
        states = np.empty(offsets[-1], np.int32)
        document, made = -1, 0
        node = walk(0, len(states), nodes, labels, self._keys, self._targets, states)
        while node < len(states):
            here = int(np.searchsorted(offsets, node, side="right")) - 1
            if here != document:
                document, made = here, len(self)
            if len(self) - made >= self._limits.new_states or self.full():
                states[offsets[here] : offsets[here + 1]] = SIMULATED
                node = offsets[here + 1]
            else:
                above, name = nodes.parent[node], nodes.name[node]
                self._step(int(states[above]) if above >= 0 else 0, int(labels[name]), int(kinds[name]))
            node = walk(node, len(states), nodes, labels, self._keys, self._targets, states)
        return states

    def active(self) -> tuple[npt.NDArray[np.int64], Numbers]:
        """The trie nodes of all states, and where those of each begin."""
        return self._active_ends.array, self._active_pool.array

    def tested(self) -> Tested:
        return Tested(self._bits.array, self._flags.array, self._lists.array, self._list_ends.array)

    def _step(self, state: int, label: int, kind: int) -> None:
        self._tick += 1
        start, stop = self._active_ends.array[state : state + 2]
        active = self._active_pool.array[start:stop]
        chain = self._chains[state]
        count, waiting, sums = expand(
            self._trie,
            active,
            chain,
            self._chunks.array,
            self._waiting_pool.array,
            label,
            kind,
            self._stamps,
            self._tick,
            self._mix,
            self._new_active,
            self._new_waiting,
        )
        if kind == ELEMENT:
            before = self._sums[state]
            identity = (int(sums[0]), int(sums[1]), before[0] + int(sums[2]), before[1] + int(sums[3]))
        else:  # nothing is below: what waits does not matter
            identity, chain = (int(sums[0]), int(sums[1]), 0, 0), -1
        target = self._known.get(identity)
        if target is None:
            target = self._add(self._new_active[:count], self._new_waiting[:waiting], chain, identity)
        self._connect(state, label, target)

    def _add(self, active: Numbers, waiting: Numbers, chain: int, identity: tuple[int, int, int, int]) -> int:
        number = self._known[identity] = len(self)
        self._active_pool.add(active)
        self._active_ends.add(np.array([len(self._active_pool)]))
        if len(waiting):
            start = len(self._waiting_pool)
            self._waiting_pool.add(waiting)
            self._chunks.add(np.array([[chain, start, len(self._waiting_pool)]]))
            chain = len(self._chunks) - 1
        self._chains.append(chain)
        self._sums.append((identity[2], identity[3]))
        if self._entries.places:
            self._add_tested(active)
        return number

    def _add_tested(self, active: Numbers) -> None:
        row = np.zeros((1, self._bits.array.shape[1]), np.uint64)
        count, flags = note_tests(active, self._entries, row[0], self._new_lists)
        self._bits.add(row)
        self._flags.add(np.array([flags], np.int8))
        lists = self._new_lists[:count]
        self._lists.add(lists[np.argsort(self._entries.list_label[lists], kind="stable")])
        self._list_ends.add(np.array([len(self._lists)]))

    def _connect(self, state: int, label: int, target: int) -> None:
        self._transitions += 1
        if 2 * self._transitions > len(self._keys):
            keys, targets = np.zeros(2 * len(self._keys), np.int64), np.empty(2 * len(self._keys), np.int32)
            rehash(self._keys, self._targets, keys, targets)
            self._keys, self._targets = keys, targets
        put_transition(self._keys, self._targets, state, label, target)
