"""Linkers draw the graph's expansion edges between facts at ingest (paper section 4.4)."""
