"""Judging anybody's answers again: with any judges, side by side, resumed where it was interrupted."""
