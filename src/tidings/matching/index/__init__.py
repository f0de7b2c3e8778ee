"""The default algorithm. Turns a `BoxTable` into an immutable segment that matches whole batches.

`index` is the data structure, `kernel` searches it, `segment` is one index with its dimensions, `segments` keeps them
few, `box_matcher` is the algorithm that takes subscriptions and batches."""
