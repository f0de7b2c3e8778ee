"""How long inference takes that looks at all rows of a file, in seconds of processor time.

Run: python -m tests.feeds.measure_infer [rows]
"""

import sys
import time
from pathlib import Path

from tests.feeds.dirty_cars import ROWS, dirty_cars
from tidings.feeds import infer
from tidings.feeds.mapping.mapping import Layout, Origin
from tidings.feeds.sources.content import Content


def main(rows: int) -> None:
    content = Content("cars.csv", dirty_cars(rows).csv())
    begun = time.process_time()
    found = infer(content, Layout("csv"), Origin(file=Path("cars.csv")), "car")
    print(f"{found.records:,} rows: {time.process_time() - begun:.1f} s")
    for remark in found.remarks:
        print(remark)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else ROWS)
