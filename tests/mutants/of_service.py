"""Mutants of the service: each is one of the faults that issues of security, load and truthfulness were about."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

_DOOR = "tests/service/door/"
_API = "tests/service/api/"
_SCOPES = (f"{_DOOR}test_scopes.py::test_a_publishers_token_can_only_publish",)
_PUBLISHING = (f"{_API}test_event_routes.py::test_guests_publish_only_where_they_may",)
_XML_SCOPES = (f"{_DOOR}test_scopes.py::test_every_xml_request_with_every_token",)
_PAGE_SCOPES = (f"{_DOOR}test_scopes.py::test_every_route_with_every_token",)
_SESSIONS = ("tests/service/pages/test_seeing.py::test_without_the_scope_subscribe_nothing_is_told_of_subscriptions",)
_FEWER = (f"{_API}test_account_routes.py::test_a_token_cannot_have_more_than_its_account_or_end_in_the_past",)
_KEPT = (f"{_DOOR}test_door.py::test_a_kept_answer_is_not_given_to_a_token_without_the_scope",)
_BODIES = (f"{_DOOR}test_door.py::test_a_strangers_body_is_not_read", f"{_DOOR}test_door.py::test_shares")
_TRACEBACKS = (f"{_DOOR}test_door.py::test_a_refused_line_keeps_no_traceback",)
_LINES = (f"{_DOOR}test_door.py::test_lines_that_are_refused_take_no_memory",)
_MEMORY = ("tests/service/publishing/test_refused_memory.py",)
_ARRAYS = ("tests/service/publishing/test_event_array.py",)
_CONNECTIONS = (f"{_DOOR}test_connection_limits.py", f"{_DOOR}test_door.py::TestConnections")
_DECODED = (f"{_API}test_large_bodies.py",)
_HEADS = (f"{_DOOR}test_slow_peers.py::test_headers_and_urls_have_a_limit",)
_TURNS = (f"{_DOOR}test_door.py::test_one_account_never_has_all_the_processes",)
_REPLACED = ("tests/service/workers/test_inquiries.py::test_one_that_takes_too_long_is_replaced",)
_BINDING = ("tests/service/actions/test_binding.py",)
_STEPS = ("tests/service/workers/test_questions.py",)
_ADDRESSES = (f"{_DOOR}test_addresses.py",)
_GUESSES = (f"{_DOOR}test_door.py::TestProxies",)
_LIMITS = (f"{_DOOR}test_rate_limits.py", f"{_DOOR}test_door.py::TestTokens")
_REMEMBERED = (f"{_DOOR}test_callers.py",)
_LOGS = ("tests/test_logs.py", f"{_DOOR}test_request_ids.py")
_VALIDITY = ("tests/service/xml/test_xml_growth.py::test_the_event_loop_does_not_wait_while_a_thread_validates",)
_XML_BYTES = ("tests/service/xml/test_xml_safety.py::test_unfinished_requests_of_one_address_are_bytes_in_flight",)
_XML_PORT = ("tests/service/xml/test_xml_port.py",)
_COOKIES = ("tests/service/pages/test_secure_cookies.py",)
_PASSWORDS = (f"{_API}test_account_routes.py::test_an_old_hash_is_renewed_at_the_next_log_in",)
_SEALED = ("tests/store/test_sealing.py",)
_SHOWN = (
    f"{_API}test_channel_routes.py::test_an_apprise_url_is_shown_nowhere",
    "tests/notifying/test_apprise.py::test_a_token_in_the_host_s_place_is_not_shown",
)
_DIALLED = ("tests/feeds/test_url_source.py",)
_GUESTS = ("tests/service/pages/test_newcomers.py::test_unless_the_operator_wants_it_guests_see_no_events",)
_READY = ("tests/service/test_readiness.py",)
_FULL = ("tests/store/test_database.py::test_a_trial_write_fails_while_the_disk_is_full_and_leaves_nothing_behind",)
_SUPERVISED = ("tests/service/workers/test_supervisor.py",)
_LEASE = ("tests/cli/test_outbox.py",)
_REPEATED = (f"{_DOOR}test_repeated_keys.py",)
_ZEROS = (f"{_DOOR}test_zero_characters.py::test_no_id_or_source_may_have_a_zero",)

_FAULTS = (
    # scopes confine
    ("scopes are not checked", "service/door/guarded_route.py", "            check_need(request, need)\n", "", _SCOPES),
    ("a token has every scope", "service/door/callers.py", "if scope not in self.scopes:", "if not self.digest:", _SCOPES),
    ("anyone publishes", "service/api/events/event_routes.py", "    check_need(request, _NEED)", "    need_of", _PUBLISHING),
    ("scopes are not checked in XML", "service/xml/operations.py", "            allow(caller, scopes.XML[name])\n", "            allow\n", _XML_SCOPES),
    ("scopes are not checked on pages", "service/pages/page_route.py", "    allow(caller, need)\n", "    allow\n", _PAGE_SCOPES),
    ("a session can do more than its token", "service/actions/accounts.py", "scopes=by.scopes & account.scopes", "scopes=account.scopes", _SESSIONS),
    ("a token can do more than its account", "service/actions/accounts.py", "for scope in () if scopes is None else sorted(scopes - account.scopes):", "for scope in ():", _FEWER),
    # the order of the guards
    ("kept answers before scopes", "service/door/idempotency.py", "    def handler_within(self) -> Handler:\n        handle = super().handler_within()", "    def get_route_handler(self) -> Handler:\n        handle = super().get_route_handler()", _KEPT),
    ("bodies of any size", "service/door/in_flight.py", "if size > self._largest:", "if False:", _BODIES),
    ("any number of bytes in flight", "service/door/in_flight.py", "if (held and held + size > share) or", "if", _BODIES),
    ("any number of requests at once", "service/door/in_flight.py", "if count >= self._most_requests:", "if False:", _BODIES),
    ("bodies before authentication", "service/door/guarded_route.py", "            check_need(request, need)\n            return", "            await request.body()\n            check_need(request, need)\n            return", _BODIES),
    ("events before authentication", "service/api/events/event_routes.py", "    check_need(request, _NEED)", "    await request.body()\n    check_need(request, _NEED)", _BODIES),
    # refused lines
    ("tracebacks are kept", "service/publishing/batch_results.py", "refused.with_traceback(None)", "refused", _TRACEBACKS),
    ("all errors are kept", "service/publishing/batch_results.py", "return len(self.refused) >= MOST_WITH_ERRORS or self.told >= MOST_TOLD", "return False", _LINES),
    ("any bytes of errors", "service/publishing/batch_results.py", "or self._bytes_of_errors >= MOST_TOLD", "", _MEMORY),
    ("whole names in errors", "events/validation.py", "cut(message, _LONGEST_MESSAGE)", "message", _MEMORY),
    ("whole values in errors", "events/refusal.py", "            return cut(value)\n", "            return value\n", _MEMORY),
    ("unfinished lines are not counted", "service/door/in_flight.py", "        self._in_flight.hold(self._who, self._held, held, self._is_guest)\n", "", _MEMORY),
    # load
    ("silence keeps its place", "service/door/slow_peers.py", "if full.args[1] or longest is None:", "if True:", _CONNECTIONS),
    ("large bodies in the event loop", "service/api/shapes.py", "    return await gateway.read(decoded, body, shape)", "    return decoded(body, shape)", _DECODED),
    ("bodies of more than an event", "service/api/shapes.py", "    if len(body) > largest:\n        raise BodyTooLarge(largest)\n", "", _DECODED),
    ("headers of any size", "service/door/slow_peers.py", "if self._arrived > LARGEST_HEAD and", "if False and", _HEADS),
    ("headers that never end", "service/door/slow_peers.py", "if self._unfinished > LARGEST_HEAD and", "if False and", _HEADS),
    ("one address has all places", "service/door/connection_limits.py", "if taken >= self._share and not", "if False and not", _CONNECTIONS),
    ("arrays of any number of values", "service/publishing/event_array.py", 'if body.count(b",") > _MOST_VALUES:', "if False:", _ARRAYS),
    ("arrays of any length", "service/publishing/event_array.py", "if len(found) > MOST_EVENTS:", "if False:", _ARRAYS),
    ("every new process has time to load", "service/workers/inquiries.py", "first, self._has_started = not self._has_started, True", "first, self._has_started = True, True", _REPLACED),
    ("one account has all processes", "service/workers/inquiries.py", "asyncio.Semaphore(max(1, len(self._workers) - 1))", "asyncio.Semaphore(len(self._workers))", _TURNS),
    ("explanations of any length", "service/workers/questions.py", "catalog, MOST_STEPS, accepted", "catalog, None, accepted", _STEPS),
    ("readers bind filters", "service/gateway.py", "return await self._binders.run(account, ask, *args, **named)", "return await self.read(ask, *args, **named)", _BINDING),
    ("the journal binds filters", "service/actions/subscriptions.py", "name, note, composite, bound=True)\n            await", "name, note, composite)\n            await", _BINDING),
    ("one account binds in all threads", "service/actions/binding.py", "        async with turn:\n", "        if turn:\n", _BINDING),
    ("imports bind without end", "service/actions/subscription_import.py", "if self._predicates >= _MOST_PREDICATES:", "if False:", _BINDING),
    # who asks
    ("proxies are not believed", "service/door/addresses.py", "if not self.trusts(peer):", "if True:", _ADDRESSES),
    ("everybody is believed", "service/door/addresses.py", "if not self.trusts(peer):", "if False:", _ADDRESSES),
    ("the first address named", "service/door/addresses.py", "for hop in reversed(hops):", "for hop in hops:", _ADDRESSES),
    ("IPv6 by single addresses", "service/door/addresses.py", "return str(IPv6Network((int(found) >> 64 << 64, 64)))", "return str(found)", _ADDRESSES),
    ("guesses lock the owner out", "service/actions/accounts.py", 'key = (username if is_username(username) else "", address)', 'key = (username if is_username(username) else "", "")', _GUESSES),
    ("junk tokens reach the store", "service/door/admission.py", "        self._by_address.take(network)\n", "", _LIMITS),
    ("a full table forgets everybody", "service/door/rate_limits.py", "buckets.popitem(last=False)", "buckets.clear()", _LIMITS),
    ("every token is remembered", "service/door/callers.py", "while len(self._known) > _MOST_REMEMBERED:", "while False:", _REMEMBERED),
    # logs
    ("log lines can be forged", "logs.py", "return _UNSAFE.sub(lambda found: repr(found[0])[1:-1], text)", "return text", _LOGS),
    ("links with secrets are logged", "service/door/request_id.py", "if prefix in path:", "if False:", _LOGS),
    ("log lines without a time", "logs.py", 'line = f"{_time(record)} {record.levelname:7} ', 'line = f"', _LOGS),
    # XML, TLS, passwords
    ("the event loop waits for a validation", "service/xml/validity.py", "with self._locks[beside]:", "with self._locks[True]:", _VALIDITY),
    ("XML bytes are not counted", "service/xml/connection.py", "            self._in_flight.hold(self._network, self._counted, held, not self._proven)\n", "            pass\n", _XML_BYTES),
    ("XML in the clear", "service/xml/daemon.py", "ssl=certificate", "ssl=None", _XML_PORT),
    ("XML on every interface", "settings.py", 'xml_host: str = "127.0.0.1"', 'xml_host: str = "0.0.0.0"', _XML_PORT),
    ("no HSTS", "service/door/middleware.py", "if self._over_tls and (seconds :=", "if False and (seconds :=", _COOKIES),
    ("cookies without a prefix", "service/door/secure_cookies.py", "return _PREFIX + value +", "return value +", _COOKIES),
    ("cookies of other hosts", "service/door/secure_cookies.py", "if not one.startswith(_OURS)]", "if one]", _COOKIES),
    ("old hashes stay", "service/actions/accounts.py", "if self.passwords.is_weak(account.password):", "if False:", _PASSWORDS),
    # secrets and strangers' addresses
    ("Apprise URLs in plain text", "store/databases/seal.py", '{**settings, "url": vault.seal(url)}', "{**settings}", _SEALED),
    ("webhook secrets in plain text", "store/databases/seal.py", "return _sealed(connection, written(secrets)) if secrets else _NONE", "return written(secrets) if secrets else _NONE", _SEALED),
    ("kept answers in plain text", "store/databases/seal.py", "return _sealed(connection, body) if body else body", "return body", _SEALED),
    ("Apprise URLs are shown", "service/api/channels/channel_shapes.py", 'if channel.kind == "apprise" and', "if False and", _SHOWN),
    ("Apprise URLs at the operator's", "notifying/delivery.py", 'if channel.kind == "apprise":', "if False:", _SHOWN),
    ("Apprise URLs in attempts", "notifying/channels/apprise_channel.py", 'request = f"Apprise {apprise_place(url)}"', 'request = f"Apprise {url}"', _SHOWN),
    ("DNS rebinding", "feeds/sources/url_source.py", "request.url = url.copy_with(host=addresses[len(addresses) - 1 - left])", "request.url = url", _DIALLED),
    ("sent on to inside", "feeds/sources/url_source.py", "for one in found if not any(map(self._inside, first)) else ():", "for one in ():", _DIALLED),
    ("guests see events", "service/pages/parts/showcase.py", "return self._gateway.settings.showcase", "return True", _GUESTS),
    # /readyz, repeated keys, zero characters
    ("ready with a lag that stays", "service/readiness.py", "if stuck >= PATIENCE:", "if False:", _READY),
    ("a lag counts though it was gone", "service/readiness.py", "if not lag or committed", "if committed", _READY),
    ("ready without the pipeline", "service/readiness.py", 'elif child.state == "stopped":', "elif False:", _READY),
    ("ready while the pipeline restarts", "service/readiness.py", 'elif child.state == "waiting":', "elif False:", _READY),
    ("ready while a child hangs", "service/readiness.py", "if now - child.heard >= PATIENCE:", "if False:", _READY),
    ("ready without the lease", "service/readiness.py", "elif child.leads is False:", "elif False:", _READY),
    ("ready without an outbox elsewhere", "service/readiness.py", "if away >= PATIENCE:", "if False:", _READY),
    ("nothing to send, not ready", "store/deliveries/absence.py", "if not (is_behind and connection.execute(select(_IS_WANTED)).scalar_one()):", "if not is_behind:", _READY),
    ("ready though writes fail", "service/readiness.py", "if failed is not None:", "if False:", _READY),
    ("a failed write is remembered for ever", "service/readiness.py", "    return gateway.failed_write\n", "    return before\n", _READY),
    ("a full disk is not a failed write", "service/gateway.py", "_FAILURES = (StoreFailed, StoreFull, ", "_FAILURES = (StoreFailed, ", _READY),
    ("a trial that writes nothing", "store/store.py", "        trial_write.try_write(self.database)\n", "", _FULL),
    ("nobody hears of the lease", "service/workers/supervisor.py", 'leads=look.get("leading")', "leads=None", _SUPERVISED),
    ("every outbox says that it leads", "cli/store/outbox.py", '"leading": sending.is_leading', '"leading": True', _LEASE),
    ("no heartbeat", "service/workers/supervisor.py", "                    )  # fmt: skip\n                    if seen != self._status or now - self._status.heard >= _HEARD_EVERY:", "                    )  # fmt: skip\n                    if seen != self._status:", _SUPERVISED),
    ("the last of two keys wins", "service/api/shapes.py", "            _refuse_repeated(body, made)\n", "            pass\n", _REPEATED),
    ("the last of two keys wins in a line", "service/publishing/event_lines.py", "if may_repeat(block, items):", "if False:", _REPEATED),
    ("zero characters in ids", "service/actions/publish.py", 'elif type(id) is str and "\\0" in id:', "elif False:", _ZEROS),
    ("zero characters in sources", "service/actions/publish.py", 'if type(source) is str and "\\0" in source:', "if False:", _ZEROS),
)  # fmt: skip

OF_SERVICE = tuple(Mutant(name, file, old, new, tests) for name, file, old, new, tests in _FAULTS)
