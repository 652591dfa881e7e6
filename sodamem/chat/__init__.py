"""Text in, text out: the only way to a model. Served, cached on disk, or scripted (the test double)."""
