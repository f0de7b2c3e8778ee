"""A schema and a mapping, proposed from what a source holds."""
