"""A page of verdicts: every answer beside its gold, what each judge said in which words, and room for one's own label.

One HTML file without anything from outside; labels that are set on it are exported as JSON, which `judge=human` reads.
"""

from __future__ import annotations

import json
from importlib import resources
from typing import Any

from sodamem.judge.human import FORMAT, fingerprint
from sodamem.rejudge.rejudge import Rejudged
from sodamem.report import vars_of

_PLACE = "/*DATA*/"


def page(found: Rejudged) -> str:
    """The whole page; answers are data in it, so markup in them stays text."""
    template = (resources.files("sodamem.rejudge") / "page.html").read_text(encoding="utf-8")
    data = {
        "format": FORMAT,
        "name": found.answers.name,
        "sha256": found.answers.sha256,
        "judges": [_called(opinion.name, found.answers.published_by, opinion.digest) for opinion in found.opinions],
        "rows": rows(found),
    }
    # Within a script element only "<" can end the data early.
    return template.replace(_PLACE, json.dumps(data, ensure_ascii=False).replace("<", "\\u003c"))


def rows(found: Rejudged) -> list[dict[str, Any]]:
    """Every answer with all verdicts on it, in the order of the opinions."""
    table = zip(*(opinion.counted for opinion in found.opinions), strict=True)
    return [
        {
            "id": given.question.id,
            "category": given.question.category,
            "question": given.question.text,
            "gold": given.question.gold,
            "answerable": given.question.answerable,
            "erratum": given.question.erratum,
            "answer": given.answer.text,
            "fingerprint": fingerprint(given.answer),
            "verdicts": [vars_of(verdict, "label", "reason", "raw") for verdict in verdicts],
        }
        for given, verdicts in zip(found.answers.answers, table, strict=True)
    ]


def _called(name: str, published_by: str, digest: str) -> str:
    return name if digest else f"{name} ({published_by})"
