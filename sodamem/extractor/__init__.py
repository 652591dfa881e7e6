"""Extractors: one session in, pieces, entities and candidate FactEvents out (arXiv 2608.08055, section 4.2)."""
