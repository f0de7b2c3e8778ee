"""The algorithms from the papers, one module each, behind the contract of `tidings.matching.algorithm`.

They share boxes, points and residuals with the default algorithm (`indexed`) and differ in how they find boxes."""
