"""Recall recorded once and replayed under any setting of the fusion, to the bit what a live run would rank."""
