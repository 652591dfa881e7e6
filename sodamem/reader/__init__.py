"""Readers compose an answer from evidence, every claim cited (paper section 4.6)."""
