"""Studies and families of ablations: one YAML each, what is varied around which baseline, and what is measured."""
