"""Logs: their two forms, what is escaped, what is never in them."""

import json
import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tidings.logs import REQUEST_ID, is_logged, last_message, logged

HOSTILE = "/a\n2026-05-01T10:00:00.000Z ERROR   gateway: forged \x1b[31m\x9b\u202e\ud800"
LINE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z WARNING gateway: GET /a\\n2026")
log = logging.getLogger("tidings.service")


@contextmanager
def logged_alone(process: str, form: str) -> Iterator[None]:
    """Without the handlers of pytest: between its processes, reports may not have half a surrogate pair."""
    root = logging.getLogger()
    others, root.handlers = root.handlers, []
    try:
        with logged(process, form):
            yield
    finally:
        root.handlers = others


def test_a_text_line_cannot_be_forged(capsys: pytest.CaptureFixture[str]) -> None:
    with logged_alone("gateway", "text"):
        log.warning("GET %s", HOSTILE)
    (line,) = capsys.readouterr().err.splitlines()
    assert LINE.match(line)
    assert line.endswith(r"forged \x1b[31m\x9b\u202e\ud800")


def test_a_json_line_has_everything(capsys: pytest.CaptureFixture[str]) -> None:
    token = REQUEST_ID.set("r-1")
    try:
        with logged_alone("gateway", "json"):
            log.warning("GET %s", HOSTILE)
    finally:
        REQUEST_ID.reset(token)
    text = capsys.readouterr().err
    assert text.count("\n") == 1
    assert text.isascii()
    members = json.loads(text)
    assert members.pop("time").endswith("Z")
    assert members == {
        "level": "warning",
        "process": "gateway",
        "logger": "tidings.service",
        "message": f"GET {HOSTILE}",
        "request_id": "r-1",
    }


@pytest.mark.parametrize("form", ["text", "json"])
def test_the_last_error_is_found_with_its_traceback_beside(form: str, capsys: pytest.CaptureFixture[str]) -> None:
    with logged("outbox", form):
        log.error("the first")
        try:
            raise ValueError("a\nb")
        except ValueError:
            log.exception("the second")
        log.warning("no error")
    text = capsys.readouterr().err
    assert last_message(text) == "the second"
    assert last_message("some words\n{not json\n") == "{not json"
    assert last_message(text.splitlines()[-1]) == "no error"
    assert all(line.startswith(("    ", "2026", "20", "{")) for line in text.splitlines())
    assert len(text.splitlines()) == 3 if form == "json" else "    ValueError: a\n    b\n" in text


def test_libraries_that_log_whole_urls_are_silent(capsys: pytest.CaptureFixture[str]) -> None:
    with logged("outbox", "text"):
        for name in ("apprise", "urllib3.connectionpool", "httpx"):
            logging.getLogger(name).warning("https://api.telegram.org/bot123:secret/sendMessage")
        logging.getLogger("uvicorn.error").warning("it says")
    assert capsys.readouterr().err.count("\n") == 1
    assert not is_logged()
