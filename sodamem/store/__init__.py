"""The store: SQLite as the only truth, and derived indexes that can always be rebuilt from it."""
