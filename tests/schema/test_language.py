"""The language of a text domain: where it may be, which there are, and both forms of a schema."""

import pytest
import Stemmer

from tidings.schema import Catalog, Domain, Kind, json_form, xml_form
from tidings.schema.domain import LANGUAGES, PartOutsideKind, UnknownLanguage


def test_every_language_has_stems() -> None:
    assert set(LANGUAGES) <= set(Stemmer.algorithms())


def test_only_a_text_has_a_language() -> None:
    assert Domain("story", Kind.TEXT, language="english").language == "english"
    with pytest.raises(PartOutsideKind, match="'language' belongs to text domains"):
        Domain("title", Kind.STRING, language="english")
    with pytest.raises(UnknownLanguage, match="'klingon'; supported: arabic"):
        Domain("story", Kind.TEXT, language="klingon")


def test_both_forms_keep_it() -> None:
    catalog = Catalog((Domain("story", Kind.TEXT, language="german"), Domain("plain", Kind.TEXT)), (), ())
    assert json_form.read(json_form.write(catalog)) == catalog
    assert xml_form.read(xml_form.write(catalog))[0] == catalog
