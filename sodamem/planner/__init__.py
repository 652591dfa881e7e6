"""Planners grow the pool of evidence before it is read (paper section 4.6)."""
