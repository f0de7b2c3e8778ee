"""Publishing: events as JSON, lines, CloudEvents or XML documents in, results with positions out."""
