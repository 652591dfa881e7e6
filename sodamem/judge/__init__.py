"""Judges grade answers against the gold; a verdict is correct, incorrect or unjudged, never a default."""
