"""What /metrics says, as a program reads it."""

from __future__ import annotations

from prometheus_client.parser import text_string_to_metric_families


def figures(text: str) -> dict[str, float]:
    """Each sample, written `name{label="value"}` with the labels in the order of their names, and its value."""
    samples = [sample for family in text_string_to_metric_families(text) for sample in family.samples]
    named = [",".join(f'{name}="{value}"' for name, value in sorted(sample.labels.items())) for sample in samples]
    keys = [f"{one.name}{{{labels}}}" if labels else one.name for one, labels in zip(samples, named, strict=True)]
    return dict(zip(keys, (sample.value for sample in samples), strict=True))
