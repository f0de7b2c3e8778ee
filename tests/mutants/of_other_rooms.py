"""Mutants of places, composites, paths of documents and the overlay. Each old text is one line or less."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

_REGIONS = ("tests/matching/test_computed.py", "tests/matching/test_places.py")
_DETECTOR = (
    "tests/composite/test_oracle.py",
    "tests/composite/test_detector.py::test_detector_equals_oracle",
    "tests/composite/test_detector.py::test_what_is_due_before_the_rest_of_its_key_is_given_in_time",
    "tests/composite/test_published_cases.py",
    "tests/composite/test_waiting.py",
)
_PATHS = ("tests/documents/index/test_path_index.py",)
_COVERED_PATHS = ("tests/paths/test_covering.py",)
_OVERLAY = ("tests/overlay/test_orders.py", "tests/overlay/test_filters.py")

_SCHEMA = (
    ("180 degrees east are not 180 west", "region.py", " or (longitude == 180.0 and west == -180.0)", "", _REGIONS),
    ("the south pole has one longitude", "region.py", "if latitude == 90.0 or latitude == -90.0:", "if latitude == 90.0:", _REGIONS),
    ("circles as narrow as at the equator", "region.py", "/ math.cos(math.radians(latitude))", "", _REGIONS),
    ("circles end at the date line", "region.py", "if east > 180:", "if False:", _REGIONS),
)  # fmt: skip

_COMPOSITE = (
    ("before at the same time", "pairs.py", "p[LAST] >= q[FIRST]", "p[LAST] > q[FIRST]", _DETECTOR),
    ("a frame without its end", "pairs.py", "min(w[FIRST], x[FIRST]) > self.within or", "min(w[FIRST], x[FIRST]) >= self.within or", _DETECTOR),
    ("between includes the first", "pairs.py", "p[LAST] < r[FIRST] and r[LAST] < q[FIRST]", "p[LAST] <= r[FIRST] and r[LAST] < q[FIRST]", _DETECTOR),
    ("the first chosen for the last", "pairs.py", "chosen[-1:] if picking == \"last\"", "chosen[:1] if picking == \"last\"", _DETECTOR),
    ("detected twice", "pairs.py", "if identity not in state[REPORTED]:", "if True:", _DETECTOR),
    ("a pair with itself", "pairs.py", "if not self.before and shares(w, x[EVENTS]):", "if False:", _DETECTOR),
    ("n times without the frame's end", "steps.py", "if w[FIRST] + self.within >= last and used.isdisjoint(w[EVENTS]):", "if w[FIRST] + self.within > last and used.isdisjoint(w[EVENTS]):", _DETECTOR),
    ("unless at the same time", "steps.py", "p[LAST] >= x[FIRST] or", "p[LAST] > x[FIRST] or", _DETECTOR),
    ("a frame ends early", "steps.py", "waiting[passed][LAST] + self.within < before:", "waiting[passed][LAST] + self.within <= before:", _DETECTOR),
    ("an absence goes on in the old frame", "steps.py", "frame_end = p[LAST] + self.within", "frame_end = frame_end", _DETECTOR),
    ("early matches replaced", "detector.py", "shard.early.get(second, []) + later", "later", _DETECTOR),
    ("matches in the order of arrival", "detector.py", "if len(matches) > 1:", "if False:", _DETECTOR),
    ("keys that are due later forgotten", "detector.py", "if waiting:", "if False:", _DETECTOR),
    ("an earlier time does not count", "detector.py", "(passed or next_due < due)", "passed", _DETECTOR),
)  # fmt: skip

_DOCUMENTS = (
    ("a descendant's label found too late", "index/trie.py", "if edges.label[middle] < label:", "if edges.label[middle] <= label:", _PATHS),
    ("the first found for the first", "index/evaluate.py", "if found >= 0 and (best < 0 or found < best):", "if found >= 0 and best < 0:", _PATHS),
    ("at most is less", "index/evaluate.py", "return value <= bound", "return value < bound", _PATHS),
    ("a longer text is equal", "index/evaluate.py", "return stop - start == last - first and begins(", "return begins(", _PATHS),
    ("a minus sign ignored", "index/evaluate.py", "return -value if negative else value", "return value", _PATHS),
    ("a bound that is met", "index/collect.py", "np.searchsorted(keys.bounds[low:high], value, side=\"right\")", "np.searchsorted(keys.bounds[low:high], value)", _PATHS),
    ("keys of the node itself only", "index/collect.py", "if runs.key[end - 1] == 0:", "if True:", _PATHS),
    ("only one of several equal texts", "index/collect.py", "node, key, key + 1, begin, end,", "node, key, key, begin, end,", _PATHS),
    ("states with other waiting steps joined", "index/automaton.py", "before[0] + int(sums[2]), before[1] + int(sums[3]))", "0, 0)", _PATHS),
)  # fmt: skip

_TEXTS_OF_PATHS = (
    ("an anchor nearer than it must be", "covering.py", "return distance >= anchor.distance", "return True", _COVERED_PATHS),
    ("less implied by at most", "implication.py", "(known == bound and (wanted.operator == \"<=\" or fact.operator == \"<\"))", "known == bound", _COVERED_PATHS),
    ("beginning implied by containing", "implication.py", "return function == \"starts-with\" and text.startswith(wanted.text)", "return text.startswith(wanted.text)", _COVERED_PATHS),
)  # fmt: skip

_SERVERS = (
    ("any log agrees", "orders.py", "server.digests[beat.schema] != beat.digest", "False", _OVERLAY),
    ("two that cover each other dropped", "filters.py", "kept = [other for other in kept if not self.covers(filter, other)]", "pass", _OVERLAY),
)  # fmt: skip

OF_OTHER_ROOMS = (
    *(Mutant(name, f"schema/{file}", old, new, tests) for name, file, old, new, tests in _SCHEMA),
    *(Mutant(name, f"composite/{file}", old, new, tests) for name, file, old, new, tests in _COMPOSITE),
    *(Mutant(name, f"documents/{file}", old, new, tests) for name, file, old, new, tests in _DOCUMENTS),
    *(Mutant(name, f"paths/{file}", old, new, tests) for name, file, old, new, tests in _TEXTS_OF_PATHS),
    *(Mutant(name, f"overlay/{file}", old, new, tests) for name, file, old, new, tests in _SERVERS),
)
