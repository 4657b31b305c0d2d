"""Whimbrel in Python: `whimbrel.lab` runs handover experiments in virtual time."""

from . import lab

__all__ = ["lab"]
