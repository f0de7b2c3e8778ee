"""For a Spark job of your own: match a DataFrame of events with many filters, or query one with a filter."""
