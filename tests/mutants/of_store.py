"""The mutants of the store and the pipeline."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

_C = "tests/store/test_clock_guard.py::test_"
_JUMP = (f"{_C}a_new_host_refuses_while_another_sees_a_jump[sqlite-append-3600]",)
_READ = (f"{_C}a_new_host_that_has_only_read_refuses_too[sqlite]",)
_PUT_WRONG = (f"{_C}hosts_that_see_no_jump_are_not_put_wrong_where_one_is_confirmed[sqlite]",)

_EXPIRED = ("tests/store/test_expiry.py::test_many_that_are_due_expire_in_transactions_of_their_own[sqlite]",)
_STEPS = ("tests/store/test_account_states.py::test_an_account_that_has_much_changes_in_steps[sqlite]",)
_QUOTA = (
    "tests/store/test_commits.py::test_beyond_the_quota_matches_are_counted_and_not_stored[sqlite-1]",
    "tests/store/test_commits.py::test_a_quota_counts_from_its_position_on[sqlite-100]",
)

_FAULTS = (
    ("a new host believes a jump", "store/clock/clock_guard.py", "most=LIMIT if jump else GAP", "most=GAP", _JUMP),
    ("nobody tells of a jump", "store/store.py", "self.clock.look()  # and tells other hosts", "pass  # and tells other hosts", _JUMP),
    ("a jump is told for ever", "store/clock/clock_guard.py", "reading.is_right != (not anchor.jump)", "not reading.is_right", _JUMP),
    ("what was guessed stays", "store/clock/clock_guard.py", "or (anchor.is_guess and jump)", "or False", _READ),
    ("confirmed over the heads of others", "store/clock/clock_guard.py", "connection.execute(delete(clock_anchors))", "connection.execute(update(clock_anchors).values(time=clock_anchors.c.time + reading.jump))", _PUT_WRONG),
    ("all expire at once", "store/append.py", "if len(due) > MOST_DUE:", "if False:", _EXPIRED),
    ("events before the last has expired", "store/append.py", "        raise ManyDue", "        pass", _EXPIRED),
    ("deleted with the first of its channels", "store/account_states.py", "len(standing) < MOST_CHANGED and had < MOST_CHANGED", "True", _STEPS),
    ("matches of earlier minutes count", "store/notifications/quota_counts.py", "np.where(minute == before.minute[code], before.matches[code], 0)", "before.matches[code]", _QUOTA),
    ("the newest quota for all", "store/notifications/quota_counts.py", "if not quotas.changes(first, last):", "if True:", _QUOTA),
)  # fmt: skip

OF_STORE = tuple(Mutant(*one) for one in _FAULTS)
