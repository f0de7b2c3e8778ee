"""The mutants, room by room; those of rooms around the matchers are in `of_other_rooms`. Each old text is one line or less, so that it stays valid as the source changes."""

from __future__ import annotations

from tests.mutants.mutant import Mutant
from tests.mutants.of_feeds import OF_FEEDS
from tests.mutants.of_other_rooms import OF_OTHER_ROOMS
from tests.mutants.of_service import OF_SERVICE
from tests.mutants.of_store import OF_STORE

_M = "tests/matching/"
_POOL = (
    f"{_M}test_access_paths.py::test_the_whole_pool_equals_naive_and_reaches_every_path",
    f"{_M}test_access_paths.py::test_parts_of_the_pool_reach_every_path_often",
    f"{_M}test_access_paths.py::test_more_bounds_than_buckets",
    f"{_M}test_access_paths.py::test_two_bounds_in_a_slice",
    f"{_M}test_access_paths.py::test_lists_of_values",
    f"{_M}test_access_paths.py::test_a_second_look_knows_the_key",
    f"{_M}test_access_paths.py::test_residuals_that_differ_in_their_negation_only",
    f"{_M}test_access_paths.py::test_spans_of_one_segment",
)
_LOOK = (
    f"{_M}test_second_look.py::test_several_words_must_be_in_one_value",
    f"{_M}test_second_look.py::test_support_is_one_related_value",
    f"{_M}test_second_look.py::test_comparisons_between_attributes[default]",
)
_CHOICE = (
    f"{_M}test_choice.py::test_one_value_goes_with_one_of_several",
    f"{_M}test_choice.py::test_attributes_compared_in_trees_and_triangles",
    f"{_M}test_value_graph.py::test_worked_examples",
    f"{_M}test_value_graph.py::test_arithmetic_in_trees_equals_naive",
)
_ONE = (
    f"{_M}test_one_event.py::test_values_that_no_filter_names",
    f"{_M}test_one_event.py::test_nodes_compared_and_texts_without_a_word",
    f"{_M}test_one_event.py::test_many_values_and_many_doubts",
    f"{_M}test_one_event.py::test_every_access_path_equals_naive",
    f"{_M}test_one_event.py::test_filters_that_compute_leave_the_others_their_quick_way",
)
_REFUSED = ("tests/events/test_quick_look.py",)
_SPANS = (f"{_M}test_spans.py",)
_SEGMENTS = (
    f"{_M}test_access_paths.py::test_spans_of_one_segment",
    f"{_M}test_segments.py::test_changes_and_batches_go_on_while_segments_are_merged",
    f"{_M}test_segments.py::test_a_merge_drops_what_was_closed_by_the_position_told",
    f"{_M}test_segments.py::test_what_is_left_after_dropping_matches_as_before",
    f"{_M}test_every_algorithm.py::test_equals_naive[default]",
)
_BULK = (f"{_M}test_access_paths.py::test_every_comparison_of_nodes", f"{_M}test_bulk.py", f"{_M}test_gathering.py")
_LIKE = ("tests/language/test_like.py",)
_PATTERNS = tuple(
    f"tests/language/patterns/test_patterns.py::test_{name}"
    for name in (
        "worked_examples",
        "covering",
        "warnings",
        "the_clauses_are_needed_and_where_they_are_exact_they_suffice",
    )
)
_STRINGS = (f"{_M}test_strings.py", f"{_M}test_patterns.py")
_COMPUTED = (f"{_M}test_computed.py", f"{_M}test_places.py")
_SEVERAL = (
    f"{_M}test_several_computed.py::test_a_side_on_a_compared_attribute_strikes_values",
    f"{_M}test_several_computed.py::test_equals_naive[default]",
    f"{_M}test_several_computed.py::test_python_checks_no_filter",
)
_DIALECTS = (
    f"{_M}test_dialects.py::test_what_is_only_checked_is_evaluated_on_each_candidate",
    f"{_M}test_dialects.py::test_what_is_translated",
    f"{_M}test_dialects.py::test_an_expression_translated_equals_its_evaluator",
    f"{_M}test_dialects.py::test_a_filters_array_translated_equals_its_evaluator",
)
_TEXTS = (
    f"{_M}test_filter_texts.py::test_odd_texts_among_good_ones",
    f"{_M}test_filter_texts.py::test_all_are_added_or_none",
    f"{_M}test_filter_texts.py::test_texts_by_the_hundred_are_what_each_is_alone",
    f"{_M}test_filter_texts.py::test_texts_with_slips_of_the_pen_are_what_each_is_alone",
)
_FREQUENT = tuple(
    f"{_M}test_pattern_kernel.py::test_{name}"
    for name in (
        "places_are_moved_by_all_distances_up_to_the_greatest",
        "chains_of_words_here_and_there",
        "a_phrase_after_many_beginnings",
    )
)
_ALIKE = ("tests/language/test_similarity.py",)
_EXPRESSIONS = ("tests/language/cesql/test_expressions.py::test_functions_make_and_read_only_so_much",)
_CONVERTED = ("tests/language/conversion/test_conversion.py",)
_SIMILARITY = (f"{_M}test_similarity.py",)
_VERIFIED = (f"{_M}test_verified.py",)
_COMPARED = (f"{_M}test_compared_together.py",)
_PLAN = (
    f"{_M}test_plan.py::test_an_opened_plan_matches_as_the_matcher_did",
    f"{_M}test_plan.py::test_any_damaged_byte_is_noticed",
    f"{_M}test_filters.py",
    f"{_M}test_chunks.py",
    f"{_M}test_shared_plans.py::test_texts_that_no_position_needs_are_left_out",
)
_LANGUAGE = (
    "tests/language/test_binder.py",
    "tests/language/test_ranges.py",
    "tests/language/test_predicates.py",
    "tests/language/test_normal_form.py",
)
_COVERING = ("tests/language/test_covering.py", "tests/language/test_satisfiability.py")
_COMPOSITES = tuple(
    f"tests/language/composites/test_{name}.py" for name in ("parser", "printer", "binder", "time_leaves")
)
_CYCLES = ("tests/language/test_cycles.py",)
_COLUMNS = ("tests/events/test_columns.py", "tests/events/test_value_limit.py")

_INDEX = (
    ("only the first value as a key", "cluster_lookup.py", "sets[starts[e, d] + combination % many]", "sets[starts[e, d]]"),
    ("residuals of grouped boxes ignored", "kernel.py", "if has_residuals:", "if has_residuals and answer == MIXED:"),
    ("residuals of sure boxes ignored", "bitmaps.py", "if plain >= 0 and (len(residual_set) == 0 or", "if plain >= 0 and (True or"),
    ("only the first value in blocks", "blocks.py", "range(starts[e, dim], stops[e, dim])", "range(starts[e, dim], starts[e, dim] + 1)"),
    ("only the first value in bitmaps", "bitmap_rows.py", "for s in range(starts[e, d], stops[e, d]):", "for s in range(starts[e, d], starts[e, d] + 1):"),
    ("look-ahead trusts the least value", "cluster_lookup.py", "slots[mix(h) & last] if single else np.uint64(1)", "slots[mix(h) & last]"),
    ("sure boxes found twice", "bitmap_rows.py", "rows[w] &= ~sure[w]", "rows[w] &= ~np.uint64(0)"),
    ("no second look", "kernel.py", "                            if not second_look(", "                            if False and not second_look("),
    ("a second look without the key", "kernel.py", "e, keys[key : key + access_to - access_from], access[access_from:access_to],", "e, keys[:0], access[:0],"),
    ("prefix by the least value", "kernel.py", "ordinal = greatest[e, side_dimension[base]]", "ordinal = least[e, side_dimension[base]]"),
    ("suffix by the greatest value", "kernel.py", "ordinal = least[e, side_dimension[base]]", "ordinal = greatest[e, side_dimension[base]]"),
    ("only the last part of a key compared", "kernel.py", "same &= inside(e, access[a]", "same = inside(e, access[a]"),
    ("range residual closed above", "kernel.py", "if pool[i] <= ordinal < pool[i + 1]:", "if pool[i] <= ordinal <= pool[i + 1]:"),
    ("all but an interval by the least value", "kernel.py", "if ordinal >= high[side] and greatest[e, d] < low[side]:", "if ordinal >= high[side]:"),
    ("a span closed above", "kernel.py", "<= position < span_stop[number]", "<= position <= span_stop[number]"),
    ("a subscription matched twice", "kernel.py", "if stamp[number] == e + 1:", "if False:"),
    ("residuals in blocks ignored", "blocks.py", "if len(residual_set) and residual_set[box]:", "if False:"),
    ("a full block written twice", "blocks.py", "counts[CANDIDATES] = begin, open_before", "counts[CANDIDATES] = n, open_before"),
    ("no second look in blocks", "blocks.py", "if verdict & ASK and needs_second_look(", "if False and needs_second_look("),
    ("a bucket too few", "bitmaps.py", "np.searchsorted(cuts, high[side] - 1, side=\"right\")", "np.searchsorted(cuts, high[side] - 1)"),
    ("sure though a bucket is cut below", "bitmaps.py", "clear(words, sure, 0, first + 1 - begins,", "clear(words, sure, 0, first,"),
    ("sure though a bucket is cut above", "bitmaps.py", "clear(words, sure, last + ends, rows,", "clear(words, sure, last + 1, rows,"),
    ("two bounds of which the second is closed", "slices.py", "np.uint64(ordinal < highs[2 * i])", "np.uint64(ordinal <= highs[2 * i])"),
    ("one of two sides suffices", "slices.py", "& within(third,", "| within(third,"),
    ("slices end early", "slices.py", "if bounds[base + middle * width] <= ordinal:", "if bounds[base + middle * width] < ordinal:"),
    ("sides closed above", "slices.py", "np.uint32(ordinal - low) < np.uint32(high - low)", "np.uint32(ordinal - low) <= np.uint32(high - low)"),
    ("slices though there are more sides", "access.py", "if plain and len(rest) == 1 and first", "if plain and first"),
    ("slices though there are residuals", "access.py", "Group(access, ALL if plain else ROWS,", "Group(access, ALL,"),
    ("shapes without their kinds", "access.py", "table.dimension.astype(np.int64) * 8 + kinds)", "table.dimension.astype(np.int64) * 8)"),
    ("plain boxes among those with residuals", "access.py", "has_residuals = np.diff(table.residual_offsets) > 0", "has_residuals = np.diff(table.residual_offsets) < 0"),
    ("negated residuals taken for others", "residual_sets.py", "grouped(first << 40 | (kind + 1) << 32 | negated,", "grouped(first << 40 | (kind + 1) << 32,"),
    ("residual sets point into the old pool", "residual_sets.py", "residuals[pointing, 3], residuals[pointing, 4] = ends[:-1], ends[1:]", "ends = ends"),
)  # fmt: skip

_TOGETHER = (
    ("linear comparisons without equality", "slices.py", "(np.uint64(left == other) & same)", "(np.uint64(left == other) & less)"),
    ("any relation of two attributes suffices", "kernel.py", "if possible == 0 or (test < NOTHING and not possible & -test):", "if possible == 0:"),
    ("several values tested together", "kernel.py", "alike = plain or (test > NOTHING and not relation & SEVERAL)", "alike = plain or test > NOTHING"),
    ("shapes without what they compare", "access.py", "besides = tests << 1 | has_residuals", "besides = has_residuals"),
)  # fmt: skip

_ONE_EVENT = (
    ("a number that no filter lists", "native.py", "if listed and (first == 0 or keys[first - 1] != value):", "if listed and first == 0:"),
    ("a number on a cut", "native.py", "if keys[middle] <= value:", "if keys[middle] < value:"),
    ("values of the event before", "one_event.py", "self.events.set_stops[0, :] = 0", "self.events.set_stops[0, :] += 0"),
    ("several values compared as one", "one_event.py", "if self._relations and not self._relate(dict(bound)):", "if self._relate(dict(bound)) is None:"),
    ("points numbered from nought", "one_event.py", "_Known((key, 2 * number + 1)", "_Known((key, 2 * number)"),
    ("below and above exchanged", "one_event.py", "LESS if b < a < ends[b] else GREATER", "GREATER if b < a < ends[b] else LESS"),
    ("a text without words unbound", "one_event.py", "known.keys() & words_of(value)} or {0}", "known.keys() & words_of(value)}"),
    ("open matches believed", "one_event.py", "self.open = found == native.OPEN", "self.open = False"),
    ("the first of several values for all", "one_event.py", "min(one), min(other), max(one), max(other)", "one[0], other[0], one[0], other[0]"),
    ("times behind now", "one_event.py", "row[place] = value - now", "row[place] = now - value"),
)  # fmt: skip

_SEGMENT = (
    ("dropped one position early", "> committed\n", "> committed + 1\n"),
    ("merged segments begin early", "latest_start = max(one.latest_start for one in replaced)", "latest_start = min(one.latest_start for one in replaced)"),
    ("a segment begins early", "self.append(segment, int(starts.max()))", "self.append(segment, int(starts.min()))"),
    ("the last number is never closed", "<= number <= one.segment.last_number", "<= number < one.segment.last_number"),
    ("closed during a merge", "return int(np.count_nonzero(self.closed[segment.index.number]))", "return 0"),
)  # fmt: skip

_BOXES = (
    ("one value of several at a bound", "residuals.py", "if sets[middle] < low:", "if sets[middle] <= low:", _POOL),
    ("any word instead of all", "residuals.py", "wanted = 1 if kind == HAS_ANY else stop - start", "wanted = 1", _POOL),
    ("absent words end a second look", "residuals.py", "if answer == NO and not (verdict & ASK and", "if answer == NO and not (False and", _POOL),
    ("unbound attributes are not asked", "residuals.py", "return YES if least[e, d] < 0 else NO", "return YES", _POOL),
    ("ancestors that ended", "second_look.py", "above = before - np.searchsorted(stops, rank + 1)", "above = before - np.searchsorted(stops, rank)", _LOOK),
    ("less or equal for less", "second_look.py", "if (bits & LESS and rank < starts[n - 1])", "if (bits & LESS and rank <= starts[n - 1])", _LOOK),
    ("outsides in a second look", "chosen_values.py", "fits &= ordinal < high[s] or low[s] <= ordinal", "fits &= True", _POOL),
    ("struck values complete a triangle", "second_look.py", "fits[j] = alive[offset[c] + j] and relation & ca_bits", "fits[j] = relation & ca_bits != 0", _LOOK),
    ("only the last of several words", "second_look.py", "has_all &= at < len(words)", "has_all = at < len(words)", (*_LOOK, *_POOL)),
    ("ends read forwards", "dimension.py", "words = [word[::-1] for word in words]", "words = [word for word in words]", _STRINGS),
    ("ends among beginnings", "box.py", "axis = Axis(attribute, \"backwards\")", "axis = Axis(attribute, \"value\")", _STRINGS),
    ("only the first alternative looked up", "box.py", "split = [Side(axis, key, key) for key in choices[0]]", "split = [Side(axis, key, key) for key in choices[0][:1]]", _STRINGS),
    ("a pattern believed for its words", "box.py", "if not made.exact or len(choices) > 1:", "if False:", _STRINGS),
    ("words of a pattern from several values", "box.py", "if not made.exact or len(choices) > 1:", "if not made.exact:", _STRINGS),
    ("a negated pattern taken for itself", "box.py", "made.shape, negated)", "made.shape, False)", _STRINGS),
    ("a box without its northern edge", "box.py", "math.nextafter(bounds.north, math.inf)", "bounds.north", _COMPUTED),
    ("only prefixes of the greatest length", "texts/terms.py", "for length in lengths:", "for length in lengths[-1:]:", _STRINGS),
    ("words as they are for stems", "texts/terms.py", "known.get(\"~\" + stem(word, language))", "known.get(\"~\" + word)", _STRINGS),
    ("times from nought", "dimension.py", "np.searchsorted(self.keys, times - now[rows], side", "np.searchsorted(self.keys, times, side", _COMPUTED),
    ("now though there is none", "dimension.py", "bound = known[rows] & flat.is_valid()", "bound = flat.is_valid()", _COMPUTED),
    ("north for east", "dimension.py", "0 if self.axis.role == \"latitude\" else 1", "1 if self.axis.role == \"latitude\" else 0", _COMPUTED),
    ("sums compared in the other direction", "residuals.py", "SAME if left == right else LESS if left < right else GREATER", "SAME if left == right else GREATER if left < right else LESS", _COMPUTED),
    ("what is computed ignored", "residuals.py", "if kind == SINGLE:", "if True:", _COMPUTED),
    ("missing values computed", "residuals.py", "if relations[e, d] == 0:", "if False:", _COMPUTED),
    ("spans without their smaller half", "residuals.py", "np.int64(constants[row, 0]) * HALF + np.int64(constants[row, 1])", "np.int64(constants[row, 0]) * HALF", _COMPUTED),
    ("not near is near", "chosen_values.py", "return near != negated", "return near", _COMPUTED),
    ("the greatest of several sums forgotten", "chosen_values.py", "standing(numbers[e, at + 2], low)", "standing(numbers[e, at], low)", _SEVERAL),
    ("sides of compared attributes forgotten", "chosen_values.py", "if side_dimension[side] == d and not (bounds", "if False and not (bounds", _SEVERAL),
    ("sums that descend", "chosen_values.py", "constants[residuals[r, 3], 0] < 0", "constants[residuals[r, 3], 0] < -9", _SEVERAL),
    ("equal values among several not found", "chosen_values.py", "if left_fits >= 0 and right_fits >= 0:", "if False:", _SEVERAL),
    ("any place in the region", "chosen_values.py", "                fits = in_region(", "                in_region(", _SEVERAL),
    ("any relation of several values possible", "possible_relations.py", "SEVERAL | possible(choices.row[e], pair, choices)", "SEVERAL | ANY_RELATION", _LOOK),
    ("unequal to several values", "second_look.py", "start, moved = gaps[gap, 1], True", "pass", _SEVERAL),
    ("one of several comparisons of a pair", "second_look.py", "edges[known, _COMPUTED] |= known < count or kind != RELATED", "edges[known, _COMPUTED] |= kind != RELATED and known == count", _SEVERAL),
    ("a hierarchy's subtrees end at once", "choices.py", "return True, ranks, [ends[rank] for rank in ranks]", "return True, ranks, [rank + 1 for rank in ranks]", _LOOK),
    ("ranks without their shift", "choices.py", "shift[p, s] = ranked - bases[k]", "shift[p, s] = ranked", _LOOK),
    ("the greatest of several is the least", "event_table.py", "_reduce(np.maximum,", "_reduce(np.minimum,", _POOL),
    ("merged pools not shifted", "merge.py", "shifted[points, 3:] += np.int32(shift)", "shifted[points, 3:] += 0", _POOL),
    ("merged relations not renumbered", "merge.py", "rows[related, 2] = pairs[table.residuals[related, 2]]", "rows[related, 2] = pairs[0]", _POOL),
    ("cuts dropped, ordinals off by one", "merge.py", "values[cut] = np.searchsorted(used, values[cut]) + 1", "values[cut] = np.searchsorted(used, values[cut])", _SEGMENTS),
    ("sides sorted without their bounds", "merge.py", "low[j - 1], low[j] = low[j], low[j - 1]", "low[j - 1], low[j] = low[j - 1], low[j]", _POOL),
    ("the wider of two upper bounds", "bulk.py", "high = np.minimum.reduceat(", "high = np.maximum.reduceat(", _BULK),
    ("below a node includes it", "bulk.py", "at[down] + (operators[down] == LESS)", "at[down]", _BULK),
    ("the ancestors without the greatest", "bulk.py", "above[0], above[-1] + 1", "above[0], above[-1]", _BULK),
    ("plain filters lose their numbers", "filter_batch.py", "number=self.places[table.number].astype(np.int32)", "number=table.number", _BULK),
    ("texts in another order", "filter_batch.py", "np.concatenate([np.array([*self.others], np.int64), self.places])", "np.concatenate([self.places, np.array([*self.others], np.int64)])", _TEXTS),
    ("the last wrong text is named", "filter_batch.py", "raise self.problems[min(self.problems)]", "raise self.problems[max(self.problems)]", _TEXTS),
    ("only the first of several words read", "filter_texts.py", "if len(words) != 1 or", "if not words or", _TEXTS),
    ("one readable piece suffices", "filter_texts.py", "plain = np.logical_and.reduceat(", "plain = np.logical_or.reduceat(", _TEXTS),
    ("one word more between in kernels", "texts/pattern_kernel.py", "start - most, start - least)", "start - most - 1, start - least)", _FREQUENT),
    ("near in one order only in kernels", "texts/pattern_kernel.py", "near == 1 and has_between(", "near == 2 and has_between(", _FREQUENT),
    ("only the first places decide", "texts/pattern_kernel.py", "return NO if last == place_offsets[entry + 1] else OPEN", "return NO", _FREQUENT),
    ("places moved twice", "texts/place_bits.py", "range(len(to) - 1, skipped, -1)", "range(skipped + 1, len(to))", _FREQUENT),
    ("places lost between words of bits", "texts/place_bits.py", "to[k] |= bits[k + skipped + 1] << rest", "pass", _FREQUENT),
    ("near in one order only in bits", "texts/place_bits.py", "add_lowered(may, may_stop, steps[after])", "pass", _FREQUENT),
    ("phrases end where they begin", "texts/place_bits.py", "add_raised(stops, run, steps[after])", "add_raised(stops, run, 1)", _FREQUENT),
    ("lists of similar texts end early", "texts/weight_index.py", "(head * head + rest * rest) * square < 1.0", "(head * head + rest * rest) * square < 1.2", _SIMILARITY),
    ("later terms in common are forgotten", "texts/weight_index.py", "head * weight + rest * later < 1.0", "head * weight < 1.0", _SIMILARITY),
    ("dropped though enough is left", "texts/weight_index.py", "max(left, 0.0) * room + _ROUNDING", "_ROUNDING", _SIMILARITY),
    ("weights of the text before", "texts/weight_index.py", "            dense[found[i]] = 0.0", "            pass", _SIMILARITY),
)  # fmt: skip

_OTHERS = (
    ("withdrawn and added out of order", "spans.py", "if at < self._last_change.get(id, at):", "if False:", _SPANS),
    ("never active for an instant", "spans.py", "if at < self._start[number]:", "if at <= self._start[number]:", _SPANS),
    ("a plan's closings lost", "spans.py", "self._stop[closings.numbers] = closings.stops", "self._stop[closings.numbers] = FOREVER", _SPANS),
    ("known ids not compared", "spans.py", "all(names.isdisjoint(wanted) for names in known)", "True", _SPANS),
    ("less or equal for less, in Python", "value_graph.py", "low = np.maximum(low, first if bits & SAME else last)", "low = np.maximum(low, first)", _CHOICE),
    ("counterparts that fall as if they rose", "value_graph.py", "if count and theirs[0] > theirs[-1]:", "if False:", _CHOICE),
    ("gaps in the counterparts count", "value_graph.py", "np.maximum(low, stop))", "low)", _CHOICE),
    ("subtrees that end elsewhere", "value_graph.py", "np.array(sorted(domain.hierarchy.interval(str(value)) for value in values), np.int64)", "np.sort([domain.hierarchy.interval(str(value)) for value in values], axis=0)", _CHOICE),
    ("ancestors that ended, in Python", "value_graph.py", 'np.searchsorted(stops, ours[:, 0], "right")', 'np.searchsorted(stops, ours[:, 0], "left")', _CHOICE),
    ("comparisons in one direction", "value_graph.py", "return bits if one < other else mirrored(bits)", "return bits", _CHOICE),
    ("a factor without its summand", "index/kernel.py", "right = constants[c, 0] * numbers[e, EXTREMES * d + 1] + constants[c, 1]", "right = constants[c, 0] * numbers[e, EXTREMES * d + 1]", _COMPUTED),
    ("matches verified all the same", "verified.py", "open[at[pairs[at] == known]] = False", "pass", _VERIFIED),
    ("what must be verified is believed", "verified.py", "keep = ~verify", "keep = verify | True", _VERIFIED),
    ("a damaged file is read", "plan/folder.py", "if checksum_of(content) != checksum:", "if False:", _PLAN),
    ("chunks begin at nought", "plan/folder.py", "first += len(rows)", "first += 0", (*_PLAN, f"{_M}test_plan.py")),
    ("texts that are needed are dropped", "plan/filters.py", "<= committed)", "> committed)", _PLAN),
    ("quoted names are not found", "plan/filters.py", ".replace('\"', '\"\"')", "", _PLAN),
    ("rows counted from the first chunk", "plan/chunks.py", "[row - chunk.first].as_py()", "[row].as_py()", _PLAN),
)  # fmt: skip

_LANGUAGES = (
    ("covers what is bound", "analysis/covering.py", "and outer.unbound <= inner.unbound", "and True", _COVERING),
    ("a member stands for the chosen value", "analysis/covering.py", "if outer.ties(attribute):", "if False:", _COVERING),
    ("some relations suffice", "analysis/covering.py", "if known is not None and not known & ~wanted:", "if known is not None and known & wanted:", _COVERING),
    ("pre-order taken for the order", "analysis/covering.py", "if not space.domain.kind.totally_ordered:", "if False:", _COVERING),
    ("exchanged names, same relation", "analysis/constraints.py", "right, left, mirrored(bits)", "right, left, bits", _COVERING),
    ("any of the words implies each", "analysis/satisfiability.py", "return len(needs) == 1 and has == needs", "return has == needs", _COVERING),
    ("De Morgan forgotten", "normal_form.py", "if (type(tree) is And) is not negated else", "if type(tree) is And else", _LANGUAGE),
    ("predicates not multiplied", "normal_form.py", "min(long * count + total * predicates, _UNCOUNTED)", "min(long + predicates, _UNCOUNTED)", _LANGUAGE),
    ("neighbouring ranges joined short", "ranges.py", "max(merged[-1][1], high)", "merged[-1][1]", _LANGUAGE),
    ("above includes the node", "ranges.py", "above = hierarchy.ancestors(node)", "above = (start, *hierarchy.ancestors(node))", _LANGUAGE),
    ("the end of a complement is lost", "ranges.py", "if low < space.top:", "if False:", _LANGUAGE),
    ("values of two domains compared", "predicates/comparison.py", "if domain.kind.listed and domain is not other_domain:", "if False:", _LANGUAGE),
    ("not less is greater", "predicates/comparison.py", "\"<\": \">=\", \">=\": \"<\"", "\"<\": \">\", \">=\": \"<\"", _LANGUAGE),
    ("between needs only one operator", "predicates/between.py", "\"between\", \">=\", \"<=\")", "\"between\", \">=\")", _LANGUAGE),
    ("between is open above", "predicates/between.py", "compared(\"<=\", node.high, space)", "compared(\"<\", node.high, space)", (*_COVERING, *_LANGUAGE)),
    ("a cycle of four", "cycles.py", "LONGEST_CYCLE = 3 ", "LONGEST_CYCLE = 4 ", _CYCLES),
    ("arithmetic in a cycle", "cycles.py", "limit = NO_CYCLE if any(", "limit = LONGEST_CYCLE if any(", _CYCLES),
    ("cycles through one attribute joined", "cycles.py", "if lowest[node] >= depth[parent]:", "if lowest[node] > depth[parent]:", _CYCLES),
    ("contains takes two words", "predicates/contains.py", "if len(words) != 1 or", "if not words or", _LANGUAGE),
    ("every condition on the pair", "composites/chains.py", "condition for condition in where if known >= set(condition.parts)", "condition for condition in where", _COMPOSITES),
    ("a condition at the first step", "composites/chains.py", "[known | named >= set(condition.parts) for condition in waiting]", "[True for condition in waiting]", _COMPOSITES),
    ("one side of an or lasts", "composites/chains.py", "takes_no_time(left) and takes_no_time(right)", "takes_no_time(left) or takes_no_time(right)", _COMPOSITES),
    ("steps with other options joined", "composites/printer.py", " or _options(left) != _options(node)", "", _COMPOSITES),
    ("a condition moves to an earlier step", "composites/printer.py", "not any(known >= set(condition.parts) for condition in node.where)", "True", _COMPOSITES),
    ("a day left out has an event", "composites/time_leaves.py", "before < moment < until", "since <= moment < until", _COMPOSITES),
    ("segments overlap", "like.py", "begin = at + len(segment)", "begin = at", _LIKE),
    ("a pattern may end anywhere", "like.py", "or not _stands(last, value, end):", "or False:", _LIKE),
    ("an underscore covers a run", "like.py", "one == other or (one == ANY and other != RUN)", "one == other or one == ANY", _LIKE),
    ("known characters only", "like.py", "masks.get(value[at], anything)", "masks.get(value[at], 0)", _LIKE),
    ("an escaped sign is a sign", "like.py", "segments[-1] += escaped", "segments[-1] += ANY if escaped == \"_\" else escaped", _LIKE),
    ("an underscore in a beginning", "like.py", "not self.segments[1] and ANY not in self.segments[0]", "not self.segments[1]", (*_LIKE, *_STRINGS)),
    ("ends not reversed", "predicates/like.py", "beginning_with(pattern.suffix[::-1])", "beginning_with(pattern.suffix)", _STRINGS),
    ("a beginning with the greatest character", "ranges.py", "if not last:", "if False:", _STRINGS),
    ("surrogates after a beginning", "ranges.py", "0xE000 if following == 0xD800 else following", "following", _STRINGS),
    ("the factor forgotten", "predicates/comparison.py", "RELATIONS[node.operator], node.scale, node.offset)", "RELATIONS[node.operator], 1, node.offset)", _COMPUTED),
    ("the opposite of a sum is itself", "predicates/comparison.py", "replace(node, operator=_OPPOSITE[node.operator])", "replace(node, operator=node.operator)", _COMPUTED),
    ("what must be checked is believed", "predicates/in_dialect.py", "if node.stage == \"translated\" else", "if node.stage != \"written\" else", _DIALECTS),
    ("an error on the left forgotten", "cesql/translation.py", "if left.is_safe and left.needs <= right.needs:", "if left.is_safe:", _DIALECTS),
    ("literals on the left not mirrored", "cesql/attributes.py", "MIRRORED[operator] if flipped else operator", "operator", _DIALECTS),
    ("several values taken for one", "cesql/attributes.py", "_verdict(Like(core, form, text), exact=not self._is_several(core))", "_verdict(Like(core, form, text), exact=True)", _DIALECTS),
    ("a weak part makes a whole exact", "cesql/verdict.py", "return ALWAYS if ALWAYS in found else ANYTHING", "return ALWAYS", _DIALECTS),
    ("a lacking word implied by another", "patterns/implication.py", "isinstance(one, Lacks) and implies(term, one.term, language)", "isinstance(one, Lacks) and implies(one.term, term, language)", _PATTERNS),
    ("a part of a phrase anywhere", "patterns/implication.py", "range(len(known) - len(sought) + 1)", "range(len(known))", _PATTERNS),
    ("one word more between", "patterns/text_words.py", "_rounds(link.most - link.least)", "_rounds(link.most - link.least + 1)", _PATTERNS),
    ("near in one order only", "patterns/text_words.py", "may_stop = starts if", "may_stop = 0 if", _PATTERNS),
    ("an alternative is required", "patterns/clauses.py", "chosen = [min(one.clauses, key=len) for one in found]", "chosen = [found[0].clauses[0]]", _PATTERNS),
    ("pieces of any length sought", "predicates/like.py", "if length > LONGEST_SOUGHT:", "if False:", _LIKE),
    ("texts of any length made", "cesql/functions.py", "if length > _LONGEST:", "if False:", _EXPRESSIONS),
    ("any number of characters read", "cesql/evaluator.py", "if read > _MOST_READ:", "if False:", _EXPRESSIONS),
    ("any number of terms counted", "similarity.py", "if len(self._frequencies) > self._most:", "if False:", _ALIKE),
    ("vectors of long texts kept", "similarity.py", "_long = lru_cache(maxsize=2)", "_long = lru_cache(maxsize=4096)", _ALIKE),
    ("matchers of envelopes unread", "conversion/eventbridge.py", "if attribute in (EVENT_TYPE, \"event.time\"):", "if False:", _CONVERTED),
    ("some frequent words are enough", "patterns/stop_words.py", "if all(every) else ()", "if any(every) else ()", _PATTERNS),
    ("doubled quotes stay", "shapes.py", "written[1:-1].replace(\"''\", \"'\")", "written[1:-1]", _TEXTS),
)  # fmt: skip

_EVENTS = (
    ("mandatory attributes not asked", "columns.py", "use is not None and use.mandatory for use in uses", "False for use in uses", _COLUMNS),
    ("equal values stay", "columns.py", "if len(different) == len(keys):", "if True:", _COLUMNS),
    ("any number of values", "columns.py", "and longest > self._most_values:", "and False:", _COLUMNS),
    ("rescued rows out of place", "columns.py", "order = pc.sort_indices(rows)", "order = pc.sort_indices(pc.negate(rows))", _COLUMNS),
    ("words outside the domain", "quick_look.py", "return use.words.get(value)", "return use.words.get(value, value)", _REFUSED),
    ("several values of a unique attribute", "quick_look.py", "if made and not use.unique else None", "if made else None", _REFUSED),
    ("mandatory attributes not looked for", "quick_look.py", "if view.mandatory and not view.mandatory <= attributes.keys():", "if False:", _REFUSED),
    ("infinite numbers", "quick_look.py", "type(value) is float and value - value == 0", "type(value) is float", _REFUSED),
    ("empty ids", "quick_look.py", "not 0 < len(id) <= LONGEST_ID", "not len(id) <= LONGEST_ID", _REFUSED),
)  # fmt: skip

_O = "tests/overlay/"
_RULES = tuple(f"{_O}test_{name}.py" for name in ("rules", "links", "orders", "absurd_numbers", "cases"))
_OVERLAY = (
    ("alive at once", "links.py", "if now - link.answering_since >= wait:", "if True:"),
    ("never dead", "links.py", "if link.unanswered >= timing.most_unanswered or link.conflict:", "if link.conflict:"),
    ("deaths do not count", "links.py", "timing.revival * 2 ** len(link.deaths)", "timing.revival"),
    ("replayed announcements", "links.py", "if known is None or state.version > known.version:", "if True:"),
    ("restored, not renumbered", "links.py", "if not is_later or told > server.latest:", "if True:"),
    ("any later number of its own", "links.py", "if not is_later or told > server.latest:", "if not is_later:"),
    ("later heads of its own", "links.py", " or head > server.heads[server.name]", ""),
    ("any number of a link state", "links.py", " and state.version.incarnation <= server.latest:", ":"),
    ("any number of a head", "repair.py", " or head.incarnation > latest:", ":"),
    ("any number of a mark", "repair.py", "for one in (answer.mark, *(event.stamp for event in answer.events))", "for one in ()"),
    ("any number of an event", "forwarding.py", "if any(event.stamp.incarnation > server.latest for event in message.events):", "if False:"),
    ("any number of an offer", "moves.py", "if any(number > server.latest for number in numbers):", "if False:"),
    ("any number of an interest", "interests.py", "if interest.version.incarnation > server.latest:", "if False:"),
    ("any term", "orders.py", "return term <= server.durable.rule.term + server.limits.terms", "return True"),
    ("twins stay", "links.py", "if len(server.renumbered) > server.limits.renumberings:", "if False:"),
    ("other identities", "links.py", "if state.identity != server.identity:", "if False:"),
    ("nobody sends what others lack", "links.py", "        if lacking:", "        if False:"),
    ("late answers count", "links.py", "not link.answered < answer.sent <= server.now", "not answer.sent <= server.now"),
    ("weights change at once", "links.py", "server.now - link.other_since >= server.timing.steady_weight or", "True or"),
    ("older interests", "interests.py", "(held and interest.version <= held.version) or", "False or"),
    ("interests of a later schema", "interests.py", "or interest.schema > server.schema:", "or False:"),
    ("interests are sent once", "interests.py", "if posted and posted.version != holds:", "if False:"),
    ("a million filters", "interests.py", "if len(filters) <= server.limits.filters else", "if True else"),
    ("events go back", "forwarding.py", "if neighbour != giver and selects", "if selects"),
    ("events go twice", "forwarding.py", "    if name in server.passed:", "    if False:"),
    ("nothing is sent again", "forwarding.py", "server.now - queue.sent_at >= server.timing.resend", "False"),
    ("events of a later schema", "forwarding.py", "if any(event.schema > server.schema for event in message.events):", "if False:"),
    ("any acknowledgement", "forwarding.py", "or version.number < queue.sent:", "or False:"),
    ("acknowledged in an earlier life", "forwarding.py", "or version.incarnation != server.incarnation or", "or"),
    ("marks move to the newest", "repair.py", "durable.count_of(ask.mark), durable.count_of(ask.head)", "durable.count_of(ask.mark), durable.journal.position"),
    ("sent though it is there", "repair.py", "if event.stamp not in ask.has and", "if"),
    ("a full answer speaks for all", "repair.py", "            through = event.stamp.position", "            pass"),
    ("answers without end", "repair.py", "or scanned == server.limits.scanned:", "or False:"),
    ("answers to an earlier life", "repair.py", "if answer.life != server.life or any(", "if any("),
    ("answers of a later schema", "repair.py", "or any(event.schema > server.schema for event in answer.events):", "or False:"),
    ("questions of a later schema", "repair.py", "if ask.schema > server.schema:", "if False:"),
    ("marks fall", "repair.py", "mark = max(answer.mark, server.durable.marks.get(answer.origin, BEGINNING))", "mark = answer.mark"),
    ("marks of an earlier incarnation", "durable.py", "return min(mark.position, *later, mark.position)", "return mark.position"),
    ("granted before anybody has it", "orders.py", "if place <= server.stored_elsewhere or server.links.keys() <= server.struck_off:", "if True:"),
    ("a repetition is ordered again", "orders.py", "if asked.request not in places:", "if True:"),
    ("logs that strayed", "orders.py", "link.conflict = server.digests[beat.schema] != beat.digest", "link.conflict = False"),
    ("a home without the last one's log", "orders.py", "    elif beat.rule > server.durable.rule and", "    if beat.rule > server.durable.rule and"),
    ("a restored home orders at once", "orders.py", "if missing := _not_level(server, order):", "if missing := []:"),
    ("any answer is enough", "orders.py", "    link.level = answer.conflict or not ahead", "    link.level = True"),
    ("a longer log is overlooked", "orders.py", "        link.level = False", "        pass"),
    ("another log holds up the home", "orders.py", "    link.level = answer.conflict or not ahead", "    link.level = not ahead"),
    ("the home orders anything", "orders.py", "if reason := server.refuses(order):", "if reason := '':"),
    ("marks are not lowered by a move", "moves.py", "min(mark, own.get(name, mark))", "own.get(name, mark)"),
    ("a probe does not wait", "settling.py", "held.version < probe.version", "False"),
    ("settled without the others", "settling.py", "    if others:", "    if False:"),
)  # fmt: skip

MUTANTS = (
    *(Mutant(name, f"overlay/{file}", old, new, _RULES) for name, file, old, new in _OVERLAY),
    *(Mutant(name, f"matching/index/{file}", old, new, _POOL) for name, file, old, new in _INDEX),
    *(Mutant(name, f"matching/index/{file}", old, new, _COMPARED) for name, file, old, new in _TOGETHER),
    *(Mutant(name, f"matching/index/{file}", old, new, (*_ONE, *_SEVERAL)) for name, file, old, new in _ONE_EVENT),
    *(Mutant(name, "matching/index/segments.py", old, new, _SEGMENTS) for name, old, new in _SEGMENT),
    *(Mutant(name, f"matching/boxes/{file}", old, new, tests) for name, file, old, new, tests in _BOXES),
    *(Mutant(name, f"matching/{file}", old, new, tests) for name, file, old, new, tests in _OTHERS),
    *(Mutant(name, f"language/{file}", old, new, tests) for name, file, old, new, tests in _LANGUAGES),
    *(Mutant(name, f"events/{file}", old, new, tests) for name, file, old, new, tests in _EVENTS),
    *OF_OTHER_ROOMS,
    *OF_SERVICE,
    *OF_STORE,
    *OF_FEEDS,
)
