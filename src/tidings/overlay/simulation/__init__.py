"""The machine over a modelled network: what is sent may be late, lost, doubled, out of order; servers crash between any
two writes, are restored, links are cut. A run is a function of its seed.

`ranges` are filters that cost nothing, `topologies` are graphs, `network` carries messages, `faults` makes random
histories, `checks` compares the outcome with what was promised, `traffic` counts messages, `mending` times repair.
"""
