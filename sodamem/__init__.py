"""sodamem: a research framework for evidence-grounded temporal graph memory of LLM agents (arXiv 2608.08055)."""

__version__ = "0.1.0"
