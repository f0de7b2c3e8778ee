"""How fast it is: named workloads with fixed seeds, every algorithm and today's tools in one run, checked against
naive.

`matching` runs one workload, `figures` redraws the papers' figures, `report` writes docs/performance.md. What is
measured is in `measurement`, what is compared in `agreement`, what is drawn in `plots`."""
