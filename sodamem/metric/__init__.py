"""Measures of retrieval and of answers' words, and the statistics that compare systems.

Recall, nDCG and MRR as in the information retrieval literature; token F1 as in LoCoMo (Maharana et al. 2024).
"""
