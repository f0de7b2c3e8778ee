"""pyarrow and Parquet: tables, batches of a file that is larger than memory, and our own files of events."""

from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pyarrow.parquet as pq

import tidings

trades = pa.table(
    {
        "id": pa.array(range(1_000)),
        "symbol": pa.array(["AAA", "BBB", "CCC", "DDD"] * 250).dictionary_encode(),
        "price": pa.array([Decimal(number) / 4 for number in range(1_000)], pa.decimal128(10, 2)),
        "venue": pa.array([["X", "Y"], None] * 500),
    }
)
schema = tidings.Schema.infer(trades, event_type="trade")
matcher = tidings.Matcher(schema)
matcher.add_many({f"{symbol} above {limit}": f"symbol = {symbol} and price > {limit}"
                  for symbol in ("AAA", "BBB") for limit in (100, 240)})  # fmt: skip
matcher.add("on Y", "venue contains 'Y' and price between 10 and 12.5")

whole = matcher.match(trades)
print(whole)
print(whole.to_arrow().group_by("subscription").aggregate([("event", "count")]).to_pandas())

with TemporaryDirectory() as folder:
    pq.write_table(trades, Path(folder, "trades.parquet"))
    batches = pq.ParquetFile(Path(folder, "trades.parquet")).iter_batches(batch_size=64)
    assert matcher.match(batches).to_arrow() == whole.to_arrow()  # one batch after another

    # A file with the columns id and event_type is a file of events: `read_events` takes JSON Lines, CSV and XML too.
    pq.write_table(trades.append_column("event_type", pa.repeat("trade", 1_000)).set_column(
        0, "id", trades["id"].cast(pa.string())), Path(folder, "events.parquet"))  # fmt: skip
    found = 0
    for reading in tidings.read_events(Path(folder, "events.parquet"), schema):
        found += len(matcher.match(reading.batch))
    assert found == len(whole)
