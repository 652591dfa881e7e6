"""Seeded dialogues with exact gold for spans, times, slots and answers; shaped like LongMemEval (arXiv 2410.10813)."""

from sodamem.dataset.synthetic.dataset import CATEGORIES, SyntheticCorpus, SyntheticDataset
from sodamem.dataset.synthetic.gold import Gold, GoldSlot, GoldStatement, Spell

__all__ = [
    "CATEGORIES",
    "Gold",
    "GoldSlot",
    "GoldStatement",
    "Spell",
    "SyntheticCorpus",
    "SyntheticDataset",
]
