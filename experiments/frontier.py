"""Which systems does the published one dominate, at what cost and accuracy, and how much of that survives a doubt?

Table 1 of arXiv 2608.08055: the dominated sets under mean and median cost, their probabilities under judge error, run,
prices, cold cache and ingest, the doubt at which each ends, and the test of strict dominance over Cersei Embed.
"""

from __future__ import annotations

import sys

from experiments.common import main
from sodamem.commands_judging import frontier


def run() -> None:
    sys.exit(frontier(sys.argv[1:]))


if __name__ == "__main__":
    main(run)
