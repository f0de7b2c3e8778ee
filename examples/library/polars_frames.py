"""polars in, polars out, and what happens to rows that break the schema's rules."""

import polars as pl

import tidings

schema = tidings.Schema.from_dict(
    {
        "domains": [
            {"name": "degrees", "kind": "numeric"},
            {"name": "place", "kind": "enumerated", "values": ["Brest", "Nice", "Gap"]},
        ],
        "attributes": [{"name": "place", "domain": "place"}, {"name": "temperature", "domain": "degrees"}],
        "event_types": [{"name": "weather", "attributes": [{"name": "place"}, {"name": "temperature"}]}],
    }
)
matcher = tidings.Matcher(schema)
matcher.add_many({"frost": "temperature < 0", "beach": "place = Nice and temperature > 25"})

weather = pl.DataFrame({"place": ["Brest", "Nice", "Gap", "Bresk", "Gap"], "temperature": [8.8, 29.0, -1.5, 3.0, None]})
try:
    matcher.match(weather)
except tidings.RefusedEvents as error:
    print(error)

found = matcher.match(weather, on_error="skip")
print(found.to_polars())
assert found.to_polars().rows() == [("1", "beach"), ("2", "frost")]
assert [row.row for row in found.refused] == [3, 4]  # a misspelt place, a mandatory value that is missing

# Columns that the schema does not know are an error, unless you leave them out.
wide = weather.head(3).with_columns(wind=pl.lit(12))
assert len(matcher.match(wide, ignore_unknown=True)) == 2
