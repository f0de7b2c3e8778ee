import pytest

from tidings.language.errors import FilterTooLong, UnexpectedToken, UnterminatedText
from tidings.language.tokens import LONGEST_FILTER, tokenize


def kinds(text: str) -> list[str]:
    return tokenize(text).kinds


def test_a_filter_is_cut_into_kinds_texts_and_offsets() -> None:
    tokens = tokenize("price >= -1.5e3 and\n  brand = 'mini'")
    assert tokens.kinds == ["name", "operator", "number", "keyword", "name", "operator", "text", "end"]
    assert tokens.written == ["price", ">=", "-1.5e3", "and", "brand", "=", "'mini'", ""]
    assert tokens.offsets == [0, 6, 9, 16, 22, 28, 30, 36]


@pytest.mark.parametrize("word", ["AND", "aNd", "Between", "EXISTS", "Not", "iN", "XPATH", "any", "All"])
def test_keywords_are_case_insensitive(word: str) -> None:
    tokens = tokenize(word)
    assert tokens.kinds == ["keyword", "end"]
    assert tokens.written[0] == word.lower()


@pytest.mark.parametrize("name", ["price", "_x", "a-b", "event.id", "a1", "Ärger", "名前", "android", "inn"])
def test_a_name_is_a_letter_or_underscore_and_then_letters_digits_and_three_marks(name: str) -> None:
    assert tokenize(name).kinds == ["name", "end"]
    assert tokenize(name).written[0] == name


@pytest.mark.parametrize("number", ["0", "+5", "-5", "1.", ".5", "1e9", "1E+9", "-1.25e-3", "007"])
def test_a_number_has_sign_digits_fraction_and_exponent(number: str) -> None:
    assert tokenize(number).written == [number, ""]
    assert kinds(number) == ["number", "end"]


def test_no_blanks_are_needed_where_two_tokens_cannot_be_one() -> None:
    assert tokenize("a<-5and(b<>c)").written == ["a", "<", "-5", "and", "(", "b", "<>", "c", ")", ""]
    assert tokenize("a-5").written == ["a-5", ""]  # a name may hold a minus


def test_a_quote_is_doubled_inside_a_text() -> None:
    assert tokenize("'it''s' ''").written == ["'it''s'", "''", ""]
    assert tokenize('"say ""hi"""').written == ['"say ""hi"""', ""]


@pytest.mark.parametrize(
    ("text", "offset"),
    [
        ("a = 'b", 4),
        ("a = 'it''s", 4),
        ("a = 'b''", 4),
        ('a = "b', 4),
        ("a = 'b' and c = 'd''", 16),
        ("'", 0),
    ],
)
def test_an_unterminated_text_is_shown_where_it_begins(text: str, offset: int) -> None:
    with pytest.raises(UnterminatedText, match="no closing") as caught:
        tokenize(text)
    assert caught.value.offset == offset


@pytest.mark.parametrize(("text", "offset"), [("a ; b", 2), ("a =\n\t !", 6), ("%", 0), ("a & b", 2)])
def test_a_character_that_begins_no_token_is_refused_where_it_stands(text: str, offset: int) -> None:
    with pytest.raises(UnexpectedToken) as caught:
        tokenize(text)
    assert caught.value.offset == offset
    assert caught.value.expected == "an attribute, a value or an operator"


def test_a_filter_of_ten_megabytes_is_refused_at_once() -> None:
    with pytest.raises(FilterTooLong, match=r"10,000,000 characters; at most 262,144"):
        tokenize("a" * 10_000_000)
    assert kinds("a" * LONGEST_FILTER) == ["name", "end"]


def test_a_long_unterminated_text_of_quotes_takes_no_time() -> None:
    with pytest.raises(UnterminatedText):
        tokenize("'" * (LONGEST_FILTER - 1))
