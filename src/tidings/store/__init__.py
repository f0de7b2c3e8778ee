"""The journal and its projections: what must never be lost."""
