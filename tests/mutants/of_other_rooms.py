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
_SIZES = ("tests/pipeline/test_composite_sizes.py",)
_COMPOSITE_BATCHES = "tests/pipeline/test_composite_batches.py"
_WAITING = (f"{_COMPOSITE_BATCHES}::test_what_waits_is_read_again_only_when_its_tenth_of_a_second_has_come",)
_GOES_ON = (f"{_COMPOSITE_BATCHES}::test_a_worker_that_goes_on_knows_what_had_ended_before_composites_began_again",)
_KEYS = ("tests/composite/test_keys.py",)
_SILENCE = ("tests/composite/test_detector.py::test_a_long_silence_is_taken_in_parts",)
_PATHS = ("tests/documents/index/test_path_index.py",)
_MEANING = tuple(f"{_PATHS[0]}::{name}" for name in ("test_meaning", "test_one_text_is_asked_for_at_several_places"))
_NOTED = (f"{_PATHS[0]}::test_a_text_is_not_asked_for_where_only_another_node_was_reached",)
_REMEMBERED = ("tests/documents/index/test_hostile.py::test_remembering_finds_what_looking_finds",)
_RECLAIMED = ("tests/documents/index/test_reclaiming.py",)
_CANONICAL = ("tests/schema/documents/test_hostile.py::test_the_canonical_form_may_not_be_many_times_as_large",)
_COVERED_PATHS = ("tests/paths/test_covering.py",)
_RING = ("tests/overlay/xevent/test_ring.py",)
_SKETCH = ("tests/overlay/xevent/test_sketch.py",)
_DELIVERY = ("tests/overlay/xevent/test_delivery.py",)
_CRASHES = ("tests/overlay/xevent/test_stability.py",)
_MOVES = ("tests/overlay/test_moves.py",)
_ADVERTISED = ("tests/overlay/test_advertised.py",)
_STATISTICS = ("tests/network/test_nodes.py::test_statistics_stay_at_their_server",)
_STARTING = ("tests/network/test_nodes.py::test_an_event_that_is_accepted_while_the_node_starts_is_not_forgotten",)
_TRAVELLING = ("tests/network/test_engine_filters.py",)
_AGAIN = ("tests/network/test_moves.py::test_a_subscription_goes_back_and_comes_again",)
_OLD = ("tests/network/test_moves.py::test_others_at_the_new_server_do_not_hear_of_old_events",)
_MOVED_ONCE = (
    "tests/network/test_moves.py::test_a_subscription_moves_with_its_notifications_and_hears_everything_once",
)
_LUGGAGE = ("tests/network/test_moves.py::test_any_number_of_notifications_goes_along",)
_REDUCED = ("tests/overlay/test_reduction.py",)
_LIES = ("tests/overlay/test_lies.py",)
_LYING = ("tests/network/test_lies.py",)
_OVERLAY = ("tests/overlay/test_orders.py", "tests/overlay/test_filters.py")

_SCHEMA = (
    ("180 degrees east are not 180 west", "region.py", " or (longitude == 180.0 and west == -180.0)", "", _REGIONS),
    ("the south pole has one longitude", "region.py", "if latitude == 90.0 or latitude == -90.0:", "if latitude == 90.0:", _REGIONS),
    ("circles as narrow as at the equator", "region.py", "/ math.cos(math.radians(latitude))", "", _REGIONS),
    ("a canonical form of any size", "documents/rules.py", "if self._left < 0:", "if False:", _CANONICAL),
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
    ("an event in all combinations", "trace.py", "islice(product(*values), MOST_KEYS)", "islice(product(*values), 10**6)", _KEYS),
    ("silence in one go", "program.py", "return min([until, *(far for far in timed if far is not None)])", "return until", _SILENCE),
    ("an earlier time does not count", "detector.py", "(passed or next_due < due)", "passed", _DETECTOR),
)  # fmt: skip

_DOCUMENTS = (
    ("a descendant's label found too late", "index/trie.py", "if edges.label[middle] < label:", "if edges.label[middle] <= label:", _PATHS),
    ("the first found for the first", "index/evaluate.py", "if found >= 0 and (best < 0 or found < best):", "if found >= 0 and best < 0:", _PATHS),
    ("a later node below another kept", "index/evaluate.py", "(one >= 0 and one < other)", "one >= 0", _REMEMBERED),
    ("what is below a known node forgotten", "index/evaluate.py", "rows[row, 1] = given[slot]", "pass", _REMEMBERED),
    ("tests of the node before noted still", "index/simulate.py", "bits[place >> 6] = 0", "pass", _NOTED),
    ("at most is less", "index/evaluate.py", "return value <= bound", "return value < bound", _PATHS),
    ("a longer text is equal", "index/evaluate.py", "return stop - start == last - first and begins(", "return begins(", _PATHS),
    ("a minus sign ignored", "index/evaluate.py", "return -value if negative else value", "return value", _PATHS),
    ("a bound that is met", "index/collect_tested.py", "if bounds[middle] <= value:", "if bounds[middle] < value:", _PATHS),
    ("keys of the node itself only", "index/collect_tested.py", "if at >= node_end[node]:", "if True:", _MEANING),
    ("only one of several equal texts", "index/collect_tested.py", "in range(offsets[key], offsets[key + 1]):", "in range(offsets[key], offsets[key] + 1):", _MEANING),
    ("withdrawn paths found with their group", "index/matcher.py", "segment.withdrawn == self._withdrawn,", "True,", _PATHS),
    ("withdrawn paths grouped", "index/groups.py", "kept = live[members] >= 0", "kept = live[members] >= -1", _PATHS),
    ("old names in operations that are kept", "index/program.py", "int(labels[label])", "label", _RECLAIMED),
    ("texts of withdrawn paths kept", "index/values.py", "for place in np.unique(texts).tolist():", "for place in range(len(before)):", _RECLAIMED),
    ("operations of withdrawn paths kept", "index/program.py", "np.flatnonzero(needed).tolist()", "range(len(needed))", _RECLAIMED),
    ("states with other waiting steps joined", "index/automaton.py", "before[0] + int(sums[2]), before[1] + int(sums[3]))", "0, 0)", _PATHS),
)  # fmt: skip

_TEXTS_OF_PATHS = (
    ("an anchor nearer than it must be", "covering.py", "return distance >= anchor.distance", "return True", _COVERED_PATHS),
    ("less implied by at most", "implication.py", "(known == bound and (wanted.operator == \"<=\" or fact.operator == \"<\"))", "known == bound", _COVERED_PATHS),
    ("beginning implied by containing", "implication.py", "return function == \"starts-with\" and text.startswith(wanted.text)", "return text.startswith(wanted.text)", _COVERED_PATHS),
)  # fmt: skip

_SERVERS = (
    ("any log agrees", "orders.py", "server.digests[beat.schema] != beat.digest", "False", _OVERLAY),
    ("spans speak for all values", "reduction.py", "name in one.members or not one.possible", "not one.possible", _REDUCED),
    ("comparisons are not remembered", "reduction.py", "self._answers[row, column] = known", "pass", _REDUCED),
    ("any number of names", "server.py", "name in known or len(known) < self.limits.servers", "True", _LIES),
    ("any number of links", "links.py", " or more > room:", ":", _LIES),
    ("answers that nobody asked for", "repair.py", "if answer.origin not in server.asked:", "if False:", _LIES),
    ("struck off and still expected", "orders.py", "server.asked.pop(order.server, None)", "pass", _LIES),
    ("all orders in one message", "orders.py", "tuple(some[: max(fit, 1)])", "tuple(some)", _LIES),
    ("two that cover each other dropped", "filters.py", "kept = [other for other in kept if not self.covers(filter, other)]", "pass", _OVERLAY),
)  # fmt: skip

_MOVED = (
    ("any answer ends a move", "moves.py", "if offer is not None and offer.version == version:", "if offer is not None:", _MOVES),
    ("a repeated offer is taken again", "moves.py", "if offer.version > server.arrived.get(place, UNHEARD):", "if True:", _MOVES),
    ("offers of a later schema", "moves.py", "if offer.schema > server.schema or _waits(server, offer):", "if _waits(server, offer):", _MOVES),
    ("two moves that cross", "moves.py", "if to == offer.giver and server.name < offer.giver:", "if True:", _MOVES),
    ("arriving while it leaves", "moves.py", "    return bool(to)", "    return False", _MOVES),
    ("offered once", "moves.py", "if server.now - offered >= _AGAIN:", "if False:", _MOVES),
    ("own events are not missed", "moves.py", "return event.stamp.position > server.durable.count_of(mark)", "return False", _MOVES),
    ("events of others are not missed", "moves.py", "        return event.stamp > mark", "        return False", _MOVES),
    ("what the old server lacked is not asked for", "moves.py", "                server.behind[origin] = server.now", "                pass", _MOVES),
    ("moves to nowhere", "moves.py", "elif command.to not in server.hops:", "elif False:", _MOVES),
    ("a subscription stays behind", "moves.py", "server.write(Unsubscribed(subscription))", "pass", _MOVES),
    ("marks follow a move in later answers", "moves.py", "server.moved_in += 1", "pass", ("tests/overlay/test_rules.py",)),
    ("interests go everywhere", "interests.py", "server.filters.overlapping(filters, behind)", "filters", _ADVERTISED),
    ("advertisements go one hop", "interests.py", ", *(one for each in others for one in each.advertisements)}", "}", _ADVERTISED),
    ("own advertisements are not told", "interests.py", "{*server.durable.advertisements.values(), *(", "{*(", _ADVERTISED),
    ("events outside advertisements", "forwarding.py", "if server.distribution != \"advertisements\":", "if True:", _ADVERTISED),
    ("withdrawn advertisements stay", "machine.py", "server.write(Withdrawn(advertisement))", "pass", _ADVERTISED),
)  # fmt: skip

_NODES = (
    ("statistics in the log", "network/stored.py", "isinstance(order, Growth) and not is_statistics(order)", "isinstance(order, Growth)", _STATISTICS),
    ("statistics count as growth", "network/stored.py", "- bisect_right(self._counted, version)", "", _STATISTICS),
    ("similarity tested elsewhere", "network/engine_filters.py", "case Similar(attribute) | NowComparison(attribute) |", "case NowComparison(attribute) |", _TRAVELLING),
    ("no similarity tested elsewhere", "network/engine_filters.py", "Not(Similar(attribute) | NowComparison(attribute)):", "Not(NowComparison(attribute)):", _TRAVELLING),
    ("filters of any length", "network/engine_filters.py", "return text if len(text) <= LONGEST_TEXT else", "return text if True else", _TRAVELLING),
    ("one move from a server", "store/moves/moving_in.py", "return f\"{self.giver} {self.since}\"", "return self.giver", _AGAIN),
    ("old events heard by all", "store/moves/moving_in.py", "one.draft if mark is not None and one.place > mark else PublishPast", "one.draft if True else PublishPast", _OLD),
    ("luggage counted from the newest", "store/moves/offers.py", "found.append(OfferedNotification(row.cursor, row.position,", "found.append(OfferedNotification(row.cursor + 1, row.position,", _LUGGAGE),
    ("a move without a ticket", "store/moves/offers.py", "if owner is None:", "if False:", ("tests/network/test_moves.py::test_a_move_without_a_ticket_or_to_a_taken_id_is_refused_and_changes_nothing",)),
    ("pending events stay behind", "network/moving_out.py", "if standing.span is not None else set()", "if False else set()", _MOVED_ONCE),
    ("growth that cannot follow", "network/customs.py", "catalog = grow(catalog, change_of(order))", "change_of(order)", _LYING),
    ("weights that are no numbers", "network/wire_shapes.py", "msgspec.Meta(gt=0, le=1e9)", "msgspec.Meta()", ("tests/network/test_wire.py",)),
    ("a message ends the process", "network/node.py", "self.counts[\"failed\"] += 1", "raise", _LYING),
    ("requests take any time", "network/node.py", "late = paused or time.monotonic() - begun > _MOST_SECONDS", "late = paused", _LYING),
    ("one neighbour takes all the time", "network/node.py", "late = paused or time", "late = time", _LYING),
    ("events accepted while a node starts", "network/node.py", "followed = max(tail, found.position)", "followed = store.tail()", _STARTING),
)  # fmt: skip

_XEVENT = (
    ("the next id for the nearest", "ring.py", "return self._live[self._nearest(key)]", "return self._live[bisect_left(self._live_ids, key) % len(self._live)]", _RING),
    ("no ring", "ring.py", "return min(gap, _LONGEST - gap)", "return abs(one - other)", _RING),
    ("a table without delays", "ring.py", "key=lambda other: (self._delay(peer, other), other)", "key=lambda other: other", _RING),
    ("only leaves beyond an empty row", "ring.py", "low += step", "break", _RING),
    ("tests end a key", "sketch.py", "or step.node.name is None:", "or step.node.name is None or step.tests:", _SKETCH),
    ("paths without a key placed nowhere", "sketch.py", "[node for node in self.nodes if len(node) == 1]", "[]", _SKETCH),
    ("element paths that end early go nowhere", "sketch.py", "if path in self._known", "if path in self.roots", _SKETCH),
    ("the last by text", "delivery.py", "return min(self._covered[filter], default=None)", "return max(self._covered[filter], default=None)", _DELIVERY),
    ("virtual filters lead to roots alone", "delivery.py", "else filter.ways - parent.ways", "else frozenset()", _DELIVERY),
    ("links past the new filter", "delivery.py", "for above in nearest_above & self._covering[below]:", "for above in ():", _DELIVERY),
    ("a leaving filter leaves a hole", "delivery.py", "if above not in between and not any(more_specific(other, above) for other in between):", "if False:", _DELIVERY),
    ("equal filters above each other", "delivery.py", "return one < other or not covers(one.path, other.path)", "return True", _DELIVERY),
    ("the parent does not decide", "delivery.py", "if self.parent(filter) in found:", "if False:", _DELIVERY),
    ("documents stop at a host that is gone", "recovery.py", "waiting += (node[:length] for length in range(1, len(node)))", "pass", _CRASHES),
    ("leases are not renewed", "recovery.py", "self._held.add(lookup.subscription)", "pass", _CRASHES),
    ("heartbeats notice nothing", "recovery.py", "if self._gone(other) and not self._gone(node):", "if False:", _CRASHES),
    ("each member's copy goes all the way", "scribe.py", "reached = next(place for place, peer in enumerate(branch) if peer in times)", "reached = len(branch) - 1", _DELIVERY),
    ("one heartbeat is enough", "rejoining.py", "(chosen.random() + periods.missed - 1) * periods.heartbeat", "chosen.random() * periods.heartbeat", _CRASHES),
)  # fmt: skip

_BATCHES = (
    ("learning is slowness", "pipeline/composites/shard_stage.py", "known.learn(max((row[\"last\"] for row in chain.from_iterable(rows.values())), default=0))", "pass", _SIZES),
    ("the first match is slowness", "pipeline/composites/leaf_stage.py", "self._known.matched, self._begun = True, time.monotonic()", "self._known.matched = True", _SIZES),
    ("storing takes no time", "pipeline/composites/sink.py", "_storing.get(self.store_url, 0.0)", "0.0", _SIZES),
    ("what waits is read by the second", "store/notifications/waiting.py", "EARLY = 100_000", "EARLY = 1_000_000", _WAITING),
    ("what had ended stays forgotten", "pipeline/composites/known.py", " or committed < self._committed:", ":", _GOES_ON),
)  # fmt: skip

OF_OTHER_ROOMS = (
    *(Mutant(name, f"schema/{file}", old, new, tests) for name, file, old, new, tests in _SCHEMA),
    *(Mutant(name, f"composite/{file}", old, new, tests) for name, file, old, new, tests in _COMPOSITE),
    *(Mutant(name, f"documents/{file}", old, new, tests) for name, file, old, new, tests in _DOCUMENTS),
    *(Mutant(name, f"paths/{file}", old, new, tests) for name, file, old, new, tests in _TEXTS_OF_PATHS),
    *(Mutant(name, f"overlay/{file}", old, new, tests) for name, file, old, new, tests in _SERVERS),
    *(Mutant(name, f"overlay/{file}", old, new, tests) for name, file, old, new, tests in _MOVED),
    *(Mutant(*one) for one in _NODES),
    *(Mutant(*one) for one in _BATCHES),
    *(Mutant(name, f"overlay/xevent/{file}", old, new, tests) for name, file, old, new, tests in _XEVENT),
)
