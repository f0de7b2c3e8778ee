"""Generated filters and events for a catalog, with few values so that matches are frequent.

`RICH` has every kind of domain and every oddity; `catalogs()` are that and small random ones. Every matcher
is compared with the naive one on `filter_texts(catalog)` and `events(catalog)`.
"""

from __future__ import annotations

from hypothesis import assume
from hypothesis import strategies as st

from tests.strategies.patterns import patterns
from tests.strategies.schemas import small_catalogs
from tidings.events import Event
from tidings.language import Filter
from tidings.language.errors import ComparisonCycle
from tidings.language.patterns.printer import print_pattern
from tidings.language.tokens import KEYWORDS, NAME
from tidings.language.tree import (
    Between,
    Comparison,
    Contains,
    ContainsPattern,
    ContainsWords,
    Exists,
    In,
    Like,
    Name,
    Node,
    Not,
    Similar,
    Word,
    both,
    either,
)
from tidings.schema import (
    Attribute,
    AttributeUse,
    Catalog,
    Domain,
    EventType,
    Hierarchy,
    Instant,
    Kind,
)
from tidings.schema.domain import COMPARISONS
from tidings.schema.statistics import Statistics
from tidings.schema.values import Place, Value

CATEGORIES = Hierarchy.from_tree(
    {
        "furniture": {"table": {"dining table": {"round table": {}}, "desk": {}}, "chair": {"small": {}}},
        "vehicle": {"car": {"mini": {}, "small": {}}},
        "toy": {},
    }
)
_DOMAINS = (
    Domain("money", Kind.NUMERIC),
    Domain("code", Kind.NUMERIC, operators=("=",)),
    Domain("name", Kind.STRING),
    Domain("colours", Kind.ENUMERATED, values=("red", "blue", "green", "it's")),
    Domain("brands", Kind.ENUMERATED, values=("opel", "mini"), open=True),
    Domain("sizes", Kind.ENUMERATED, values=("S", "M", "L", "XL"), ordered=True),
    Domain("categories", Kind.HIERARCHICAL, hierarchy=CATEGORIES),
    Domain("prose", Kind.TEXT, language="english"),
    Domain("moments", Kind.TIME),
    Domain("points", Kind.PLACE),
)
_ATTRIBUTES = {
    "price": "money",
    "budget": "money",
    "prices": "money",
    "not": "money",  # a keyword
    "red": "money",  # also a colour
    "zip code": "code",  # needs quotes
    "title": "name",
    "names": "name",
    "colour": "colours",
    "paint": "colours",
    "brand": "brands",
    "brands": "brands",
    "size": "sizes",
    "fits": "sizes",
    "category": "categories",
    "kinds": "categories",
    "desk": "name",  # also a category
    "body": "prose",
    "made": "moments",
    "sold": "moments",
    "spot": "points",
    "spots": "points",
    "unused": "money",
}
_MULTIPLE = ("prices", "brands", "names", "paint", "fits", "kinds", "body", "sold", "spots")


def _uses(*names: str) -> tuple[AttributeUse, ...]:
    return tuple(AttributeUse(name, mandatory=False, unique=name not in _MULTIPLE) for name in names)


RICH = Catalog(
    _DOMAINS,
    tuple(Attribute(name, domain) for name, domain in _ATTRIBUTES.items()),
    (
        EventType(
            "car", _uses("price", "prices", "colour", "paint", "brand", "size", "title", "category", "made", "spot")
        ),
        EventType("antique", _uses("price", "budget", "kinds", "names", "body", "sold", "not", "zip code", "spots")),
        EventType("offer", _uses(*(name for name in _ATTRIBUTES if name != "unused"))),
    ),
    statistics=(Statistics("body", 10, {"a": 9, "blue": 1, "mini": 2, "red": 4, "the": 8}),),
)

_PLACES = (
    "0,0", "37.8,-122.4", "37.8,-122.3", "-17.7,178", "-17.7,-178", "0,180", "0,-179.5", "90,0", "-90,0", "89.9,10",
    "89.9,-170", "51.5,0",
)  # fmt: skip
POOLS: dict[Kind, tuple[Value, ...]] = {
    Kind.NUMERIC: (-3, 0, 0.5, 1, 2, 5, 25),
    Kind.STRING: ("", "a", "b", "red mini", "Mini, red", "it's", "b\0", "日本 a"),
    Kind.TEXT: ("a red mini", "the blue one", "Red", "A b"),
    Kind.TIME: tuple(
        Instant.parse(text) for text in ("2026-05-01", "2026-05-02T10:00:00.5Z", "2026-05-02T12:00:00+01:00")
    ),
    Kind.PLACE: tuple(map(Place.parse, _PLACES)),
}
_SPANS = ("", " + 10 h", " - 1 day", " + 500 ms", " + 1 week", " -2 h")
_SUMS = ("", " + 1", " - 2.5", "+0.5", " + 1e300")
_SCALES = ("", "2 * ", "-1 * ", "0 * ", "0.5*", "1e300 * ")
_REGIONS = (
    "near (37.8, -122.4) within 9 km", "near (37.8, -122.4) within 0 m", "near (0, 180) within 60 km",
    "near (-17.7, 179.9) within 210 mi", "near (90, 0) within 12 km", "near (89.9, 10) within 23 km",
    "near (0, 0) within 20016 km", "near (0, 0) within 1e5 mi", "inside (37, -123, 38, -122.3)",
    "inside (-20, 178, 1, -179)", "inside (0, 170, 0, 180)", "inside (0, -180, 90, -170)", "inside (-90, 20, -89, 30)",
    "inside (-90, -180, 90, 180)", "inside (50, 0, 52, 0)",
)  # fmt: skip
_LIKES = (
    "starts with ''", "starts with 'a'", "starts with 'red'", "starts with 'b'", "starts with '日'", "ends with ''",
    "ends with 'i'",
    "ends with ' a'", "ends with '\0'", "like '%'", "like '%a%'", "like '%i%i%'", "like 'a'",
    "like '_'", "like 'M%d'", "like '_ed%'", "like '%_ni'", "like 'red%mini'", "like 'b%b'",
    "like '%, %'", "like '%''%'",
)  # fmt: skip
_SIMILAR = ("a red mini", "Minis", "the blue one the", "b", "nothing of it")
_PATTERN_WORDS = ("a", "b", "red", "mini", "minis", "m", "the", "one", "日本")
_WORDS = ("a", "b", "red", "mini", "red mini", "a b", "blue")


def catalogs() -> st.SearchStrategy[Catalog]:
    """The rich one, mostly, and small random ones."""
    return st.one_of(st.just(RICH), st.just(RICH), small_catalogs())


def pool(domain: Domain) -> tuple[Value, ...]:
    """A few values of the domain; of an open enumeration, also unknown ones."""
    if domain.open:
        return (*domain.values, "tesla", "", "a red mini")
    return POOLS.get(domain.kind, domain.vocabulary)


def spelled(domain: Domain) -> tuple[Value, ...]:
    """The same as a person may write them."""
    return tuple(domain.hierarchy.all_spellings()) if domain.kind is Kind.HIERARCHICAL else pool(domain)


def name_text(name: str) -> str:
    """A name as a filter writes it."""
    plain = NAME.fullmatch(name) and name.lower() not in KEYWORDS
    return name if plain else '"' + name.replace('"', '""') + '"'


def value_text(value: Value) -> str:
    """A value as a filter writes it, quoted where it can be."""
    if isinstance(value, Place):
        return f"({', '.join(map(repr, value.pair))})"
    if isinstance(value, str | Instant):
        return "'" + str(value).replace("'", "''") + "'"
    return repr(value)


@st.composite
def predicate_texts(draw: st.DrawFn, catalog: Catalog) -> str:
    """One predicate, with every construct that the attribute's domain allows."""
    name = draw(st.sampled_from(catalog.attribute_names))
    domain = catalog.domain_of(name)
    assert domain is not None
    values, left = spelled(domain), name_text(name)
    forms = ["exists"]
    operators = [operator for operator in COMPARISONS if domain.allows(operator)]
    wordy = domain.kind.wordy
    if values:
        forms += ["compare"] * 4 if operators else []
        forms += ["in", "not in"] if domain.allows("=") else []
        forms += ["between", "not between"] if domain.allows(">=") and domain.allows("<=") else []
        forms += ["under", "not under"] if domain.kind is Kind.HIERARCHICAL and domain.allows("<=") else []
        likes = [like for like in _LIKES if domain.allows(like.split()[0])]
        forms += ["like", "not like"] * 2 if likes else []
        forms += ["pattern", "not pattern"] * 2 if wordy and domain.allows("contains") else []
        forms += ["contains", "not contains"] if not wordy or domain.allows("contains") else []
    forms += ["similar", "not similar"] if domain.allows("~") else []
    forms += ["attribute"] if operators else []
    forms += ["linear"] * 2 if operators and domain.kind in (Kind.NUMERIC, Kind.TIME) else []
    forms += ["now"] * 2 if operators and domain.kind is Kind.TIME else []
    forms += ["region", "not region"] * 2 if domain.allows("near") and domain.allows("inside") else []
    form = draw(st.sampled_from(forms))
    word = st.sampled_from(values).map(value_text) if values else st.nothing()
    match form.removeprefix("not "):
        case "compare":
            return f"{left} {draw(st.sampled_from(operators))} {draw(word)}"
        case "in":
            listed = draw(st.lists(word, min_size=1, max_size=3))
            return f"{left} {form} ({', '.join(listed)})"
        case "between":
            return f"{left} {form} {draw(word)} and {draw(word)}"
        case "under":
            return f"{left} {form} {draw(word)}"
        case "like":
            negation = form.removesuffix("like")
            return f"{left} {negation}{draw(st.sampled_from(likes))}"
        case "pattern":
            pattern = print_pattern(draw(patterns("*~" if domain.language else "*", 4, _PATTERN_WORDS)))
            return f"{left} {form.removesuffix('pattern')}contains ({pattern})"
        case "similar":
            text, least = draw(st.sampled_from(_SIMILAR)), draw(st.sampled_from((0.1, 0.45, 0.8, 1)))
            alike = f"{left} ~ '{text}' at least {least}"
            return alike if form == "similar" else f"not ({alike})"
        case "contains" if wordy:
            quantifier = draw(st.sampled_from(("any", "all")))
            return f"{left} {form} {quantifier} '{draw(st.sampled_from(_WORDS))}'"
        case "contains":
            return f"{left} {form} {draw(word)}"
        case "attribute":
            operator = draw(st.sampled_from(operators))
            others = [other for other in catalog.attribute_names if _comparable(catalog, name, operator, other)]
            return f'{left} {operator} "{draw(st.sampled_from(others)).replace(chr(34), chr(34) * 2)}"'
        case "linear":
            operator = draw(st.sampled_from(operators))
            others = [other for other in catalog.attribute_names if _comparable(catalog, name, operator, other)]
            right = draw(st.sampled_from(others)).replace('"', '""')
            if domain.kind is Kind.TIME:
                return f'{left} {operator} "{right}"{draw(st.sampled_from(_SPANS))}'
            return f'{left} {operator} {draw(st.sampled_from(_SCALES))}"{right}"{draw(st.sampled_from(_SUMS))}'
        case "now":
            return f"{left} {draw(st.sampled_from(operators))} now{draw(st.sampled_from(_SPANS))}"
        case "region":
            return f"{left} {form.removesuffix('region')}{draw(st.sampled_from(_REGIONS))}"
        case _:
            return f"{left} exists"


def _comparable(catalog: Catalog, left: str, operator: str, right: str) -> bool:
    one, other = catalog.domain_of(left), catalog.domain_of(right)
    assert one is not None
    assert other is not None
    listed = one.kind.listed
    return one.kind is other.kind and (one is other or not listed) and other.allows(operator)


def filter_texts(catalog: Catalog, most: int = 6) -> st.SearchStrategy[str]:
    """Texts that bind: up to so many predicates under `and`, `or` and `not`."""

    def larger(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
        joined = st.lists(inner.map("({})".format), min_size=2, max_size=3)
        return joined.map(" and ".join) | joined.map(" or ".join) | inner.map("not ({})".format)

    return st.recursive(predicate_texts(catalog), larger, max_leaves=most).filter(lambda text: _binds(text, catalog))


def _binds(text: str, catalog: Catalog) -> bool:
    """Not where attributes are compared in a long cycle, or by arithmetic in one; that takes three names in quotes."""
    if text.count('"') >= 6:
        try:
            Filter.parse(text, catalog)
        except ComparisonCycle:
            return False
    return True


@st.composite
def events(draw: st.DrawFn, catalog: Catalog) -> Event:
    """A valid event: values from the pools, optional attributes bound or not, often several values."""
    types = draw(st.lists(st.sampled_from(catalog.event_type_names), unique=True, min_size=1, max_size=3))
    attributes = []
    for name, use in sorted(catalog.view(types).uses.items()):
        domain = catalog.domain_of(name)
        assert domain is not None
        assume(pool(domain) or not use.mandatory)  # a mandatory attribute whose domain is empty: no event is valid
        if pool(domain) and (use.mandatory or draw(st.booleans())):
            values = st.sampled_from(pool(domain))
            most = 1 if use.unique else 3
            attributes.append((name, tuple(draw(st.lists(values, unique=True, min_size=1, max_size=most)))))
    time = draw(st.none() | st.sampled_from(POOLS[Kind.TIME]).map(lambda time: Instant(int(time))))
    id, source = draw(st.sampled_from(("a", "e1"))), draw(st.sampled_from(("", "a", "red mini")))
    return Event(id, tuple(types), tuple(attributes), source, time)


_plain_names = st.sampled_from(("a", "b_1", "event.id", "x-y.z", "Ärger", "_")).filter(NAME.fullmatch)
_any_names = _plain_names | st.sampled_from(("not", "IN", "two words", 'say "hi"', "1st", "it's", "²"))
_numbers = (
    st.integers(-(2**60), 2**60)
    | st.integers(10**300, 10**301)
    | st.floats(allow_nan=False, allow_infinity=False).filter(lambda x: not (x.is_integer() and abs(x) <= 2**53))
)
_texts = st.text(st.characters(exclude_categories=["Cs"]) | st.sampled_from("'\"\n (),"), max_size=8)
_operands = _numbers | _texts | st.builds(Word, _plain_names) | st.builds(Name, _any_names)


def _words(quantifier: str) -> st.SearchStrategy[Node]:
    least = 2 if quantifier == "all" else 1
    words = st.lists(st.sampled_from(("red", "mini", "日本", "x1")), unique=True, min_size=least, max_size=3)
    return st.builds(ContainsWords, _any_names, st.just(quantifier), words.map(tuple))


_predicates: st.SearchStrategy[Node] = st.one_of(
    st.builds(Comparison, _any_names, st.sampled_from((*COMPARISONS, "under")), _operands),
    st.builds(Between, _any_names, _operands, _operands),
    st.builds(In, _any_names, st.lists(_operands, unique=True, min_size=1, max_size=3).map(tuple)),
    st.builds(Contains, _any_names, _operands),
    _words("any") | _words("all"),
    st.builds(Exists, _any_names),
    st.builds(Similar, _any_names, st.sampled_from(("red", "it's Red, mini")), st.sampled_from((0.25, 1e-05, 1))),
    st.builds(ContainsPattern, _any_names, patterns(most=4)),
    st.builds(Like, _any_names, st.sampled_from(("starts", "ends")), _texts),
    st.builds(Like, _any_names, st.just("like"), st.sampled_from(("", "a%", r"\\%", r"it's \%", "_\n"))),
)


def trees(most: int = 10) -> st.SearchStrategy[Node]:
    """Trees as the parser makes them, not bound: no And directly within an And, no Or within an Or."""

    def larger(inner: st.SearchStrategy[Node]) -> st.SearchStrategy[Node]:
        several = st.lists(inner, min_size=2, max_size=3)
        return several.map(both) | several.map(either) | st.builds(Not, inner)

    return st.recursive(_predicates, larger, max_leaves=most)
