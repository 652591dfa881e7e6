"""Maintenance between sessions: what the memory works out by itself (paper section 4.4)."""
