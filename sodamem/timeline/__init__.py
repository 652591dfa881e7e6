"""Stage: time expressions to intervals (arXiv 2608.08055, section 4.3)."""
