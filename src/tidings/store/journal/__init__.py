"""The journal: what may be asked of it, its entries, and the projections that follow from them.

`append`, beside this package, decides on drafts; `projections` says what an entry changes; `journal` and
`subscriptions` read.
"""
