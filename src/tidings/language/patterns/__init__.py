"""Word patterns: what stands in the parentheses of `contains (…)`. Text to tree (`parser`), tree to text (`printer`),
what a tree means (`meaning`), which words it needs (`clauses`), which tree implies which (`implication`)."""
