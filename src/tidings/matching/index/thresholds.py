"""Sizes from which keys, bitmaps, blocks, merges and threads pay off.

The defaults were measured on the benchmark's workloads. Tests lower them, so that a few dozen filters reach every
access path; the answers never depend on them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Thresholds:
    few: int = 256  # up to this many boxes are one group without keys: recent additions are rebuilt for every batch
    fewest_alike: int = 48  # boxes of one shape; with fewer, they share a group with other shapes
    large_cluster: int = 12  # boxes per key, on average, for a shape to have a group of its own
    most_groups: int = 1024  # of one shape each
    longest_key: int = 8  # equalities in a key; more would select nothing further
    fewest_with_bitmaps: int = 128  # boxes of a cluster
    fewest_in_blocks: int = 1 << 14  # boxes of a cluster without a key that has bitmaps
    block: int = 64  # words of a bitmap that are read together: 4,096 boxes
    most_combinations: int = 256  # keys of one event that are looked up in a group; beyond, its clusters are scanned
    most_waiting: int = 256  # boxes that are buffered before they become a segment
    large_merge: int = 5_000  # boxes together from which a merge runs in the background; below, it takes up to 10 ms
    alike: int = 4  # a segment is merged with the one before it unless that is this many times larger
    many_gone: int = 4  # a segment is rebuilt when one box in this many can be dropped
    room: int = 1 << 16  # matches that the output has room for at first
    fewest_for_threads: int = 512  # events of a batch that is split between threads
    largest_chunk: int = 1 << 18  # rows that a plan's chunks are joined up to: some 20 ms of writing


DEFAULTS = Thresholds()
