"""What pages are made of: events, charts, trees, examples, words, and the answer that a template becomes."""
