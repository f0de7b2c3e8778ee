"""What waits for a session that has just begun; no browser is needed to see it."""

from __future__ import annotations

from tidings.service.pages.kept_form import KeptForm, KeptForms
from tidings.service.pages.refilling import fill

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


def test_a_page_without_the_form_is_left_as_it_is() -> None:
    page = '<!doctype html><title>x</title><form method="post" action="/pages/login"><input name="value:paint"></form>'
    assert fill(page, FORM) == page


def test_values_are_escaped_and_hidden_fields_and_passwords_left_alone() -> None:
    fields = '<input name="value:paint"><input type="hidden" name="proof" value="p"><input type="password" name="old">'
    page = f'<!doctype html><title>x</title><form method="post" action="/pages/publish">{fields}</form>'
    filled = fill(page, KeptForm(FORM.action, FORM.page, (*FORM.pairs, ("proof", "forged"), ("old", "secret"))))
    assert 'value="red"' in filled
    assert 'value="&lt;b&gt;"' in filled
    assert "forged" not in filled
    assert "secret" not in filled
