"""Currency: what is true now, decided from the set of facts alone (paper sections 3.2 and 4.4).

Whatever the option, `current` and `as_of` read the view it leaves.
"""

from sodamem.facts import as_of, asserts, current, effective

__all__ = ["as_of", "asserts", "current", "effective"]
