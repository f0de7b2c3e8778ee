"""The algorithms of the papers, one module each, under the contract of `tidings.matching.algorithm`.

They share boxes, points and residuals with the default algorithm (`indexed`), and differ in how boxes are found."""
