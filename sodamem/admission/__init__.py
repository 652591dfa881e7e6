"""Admitting a judge: before its verdicts count it is shown answers whose verdict is known."""
