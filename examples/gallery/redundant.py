"""Which of my filters are redundant? Those that another one of mine covers: whatever they match, it matches too.

Eleven alerts have gathered over the years. `covers` finds the ones that add nothing, by what the filters mean and not
by how they are written: ranges, categories and words are understood, and no event is needed.
"""

from pathlib import Path

import tidings

SCHEMA = tidings.Schema.read(Path(__file__).parents[1] / "schema.json")
MINE = {
    "any vehicle": "category under vehicle",
    "an open car": "category = convertible",
    "cheap": "price < 1000",
    "cheaper": "price < 500 and category under furniture",
    "mid-price": "price between 400 and 900",
    "not so dear": "not (price >= 1000)",
    "a mini": "brand = mini",
    "the word": "title contains 'mini'",
    "mini or opel": "brand in (mini, opel)",
    "old mini": "year <= 1975 and brand = mini and price < 5000",
    "a red mini": "title contains all 'red mini'",
}


def covering(name: str, filters: dict[str, tidings.Filter]) -> str | None:
    """The one that covers it; of two that mean the same, only the later is redundant."""
    names = list(filters)
    for other in names:
        if other == name or not tidings.covers(filters[other], filters[name], SCHEMA):
            continue
        same = tidings.covers(filters[name], filters[other], SCHEMA)
        if not same or names.index(other) < names.index(name):
            return other
    return None


def main() -> None:
    filters = {name: tidings.Filter.parse(text, SCHEMA) for name, text in MINE.items()}
    kept = []
    for name, filter in filters.items():
        by = covering(name, filters)
        if by is None:
            kept.append(name)
        else:
            same = tidings.covers(filter, filters[by], SCHEMA)
            print(f"{name!r} {'means the same as' if same else 'is covered by'} {by!r}: {filter} ⊆ {filters[by]}")
    print(f"\nkeep {len(kept)} of {len(filters)}: {', '.join(kept)}")


if __name__ == "__main__":
    main()
