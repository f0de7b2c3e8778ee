"""Why an event matched, or did not; and what the library says of filters that are wrong or may be."""

import warnings

import tidings

cars = [{"price": 900, "brand": "mini", "paint": ["red", "white"]}, {"price": 2500, "brand": "opel"}]
schema = tidings.Schema.infer(cars, "car", kinds={"brand": "enumerated"})
matcher = tidings.Matcher(schema)

# A misspelt name is shown where it is, with the nearest one.
try:
    matcher.add("cheap", "pric < 1000")
except tidings.TidingsError as error:
    print(error)
assert "cheap" not in matcher

# A filter that may not mean what it says gets warnings: this one matches red *and* white cars, but none without paint.
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    matcher.add("not red", "not (paint = 'red')")
for one in told:
    print(one.message)
    assert one.category is tidings.FilterWarning
matcher.add("really not red", "paint exists and not (paint contains 'red')")

matcher.add("cheap", "price < 1000 and brand in (mini, opel)")
assert matcher.match_one(cars[0]) == ["not red", "cheap"]
for car in cars:
    print(matcher.explain("cheap", car))
    print(matcher.explain("really not red", car))
assert matcher.explain("cheap", cars[0]).matches
assert not matcher.explain("really not red", cars[1]).matches  # it has no paint at all

# Which filters add nothing?
wide, narrow = (tidings.Filter.parse(text, schema) for text in ("price < 1000", "price < 500 and brand = mini"))
assert tidings.covers(wide, narrow, schema)
