"""Texts: the words of a batch's events by number, tested by patterns of words and compared by weights.

Takes texts and the terms that filters name; gives ordinals and entries for an `EventTable`, and kernels for indexes."""
