"""Subscriptions in, published plans out: the planner writes them, sources and workers read them."""
