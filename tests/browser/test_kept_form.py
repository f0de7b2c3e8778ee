"""What waits for a session that has just begun; no browser is needed to see it."""

from __future__ import annotations

import re
from pathlib import Path

from tidings.service.pages.forms.csrf import owner_of, proof_of
from tidings.service.pages.forms.form import Form
from tidings.service.pages.forms.kept_form import HIDDEN, PRESSED, KeptForm, KeptForms, carried_form

TEMPLATES = Path(__file__).parents[2] / "src/tidings/service/pages/templates"
FORM = KeptForm("/pages/publish", "/pages/publish?type=car", (("value:paint", "red"), ("value:paint", "<b>")))


def test_a_form_is_given_back_once_and_only_to_its_session_and_page() -> None:
    forms = KeptForms()
    forms.keep(b"one", FORM)
    assert forms.take(b"two", "/pages/publish") is None
    assert forms.take(b"one", "/pages/account") is None
    assert forms.take(b"one", "/pages/publish") == FORM
    assert forms.take(b"one", "/pages/publish") is None


def test_it_waits_some_minutes_and_not_for_too_many() -> None:
    now = [0.0]
    forms = KeptForms(most=2, seconds=10, clock=lambda: now[0])
    for session in (b"one", b"two", b"three"):
        forms.keep(session, FORM)
    assert forms.take(b"one", "/pages/publish") is None, "the oldest gave way"
    now[0] = 9.9
    assert forms.take(b"two", "/pages/publish") == FORM
    now[0] = 10.0
    assert forms.take(b"three", "/pages/publish") is None


def test_a_proof_names_its_owner() -> None:
    assert owner_of(proof_of("secret", "ann.b-c_d")) == "ann.b-c_d"
    assert owner_of(proof_of("secret", "")) == ""
    digests = {proof_of(secret, owner).rpartition(".")[2] for secret in ("one", "two") for owner in ("ann", "bob", "")}
    assert len(digests) == 6
    zeros = "0" * 64
    for none in (
        "",
        ".",
        zeros,
        "ann.",
        "ann." + "g" * 64,
        f"<b>.{zeros}",
        f"A N.{zeros}",
        f".\n{zeros}",
        f".{zeros}\n",
    ):
        assert owner_of(none) is None, none


def test_a_form_goes_through_the_log_in_as_it_was() -> None:
    form = KeptForm("/pages/publish", "/pages/publish?type=car", FORM.pairs, "ann")
    assert carried_form(Form([("next", form.page), *form.hidden])) == form
    assert form.is_for("ann")
    assert not form.is_for("bob")
    assert FORM.is_for("bob"), "a guest's is whoever's"
    for name, wrong in (("kept_owner", "A <b>"), ("kept_action", "//evil.example/"), ("kept_action", "/metrics")):
        pairs = [(one, wrong if one == name else value) for one, value in form.hidden]
        assert carried_form(Form([("next", form.page), *pairs])) is None


def test_only_what_can_be_typed_counts_as_typed() -> None:
    """Names that no page's visible field has, and all that hidden fields and buttons have."""
    texts = [
        template.read_text() for template in TEMPLATES.glob("*.html") if template.stem not in ("login", "register")
    ]
    tags = [tag for text in texts for tag in re.findall(r"<(?:input|select|textarea|button)[^>]*>", text)]
    named = [(tag, found[1]) for tag in tags if (found := re.search(r' name="(\w+)"', tag))]
    hidden = {name for tag, name in named if 'type="hidden"' in tag} - {"proof"}
    pressed = {name for tag, name in named if tag.startswith("<button")} - {"asked"}
    typed = {name for tag, name in named if 'type="hidden"' not in tag and not tag.startswith("<button")}
    assert hidden <= HIDDEN | {"next"}
    assert pressed <= PRESSED
    assert typed & (HIDDEN | PRESSED) <= {"type"}, "the types of an event are ticked on a page that sends no form"
    assert not KeptForm("/a", "/", (("back", "one"), ("text", "  "))).is_typed
    assert KeptForm("/a", "/", (("back", "one"), ("text", "x"))).is_typed
