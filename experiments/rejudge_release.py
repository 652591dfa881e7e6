"""How far do judges agree with the verdicts that a published run came with? Every judge over its 500 answers.

Answers: the release of arXiv 2608.08055 on LongMemEval-S. Cohen's kappa and AC1 of each judge against the published
verdicts are the first lines of the second table; strict accuracy by type of question is the first.
"""

from __future__ import annotations

import sys

from experiments.common import main
from sodamem.commands_judging import rejudge


def run() -> None:
    sys.exit(rejudge(["sodamem_release", *sys.argv[1:]]))


if __name__ == "__main__":
    main(run)
