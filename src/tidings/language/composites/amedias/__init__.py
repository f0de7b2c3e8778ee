"""The A-MEDIAS profile language (figures 9.8 and 9.9 of its description), a second syntax for composites."""

from tidings.language.composites.amedias.parser import parse_profile

__all__ = ["parse_profile"]
