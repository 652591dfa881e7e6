"""What the published run cost, recomputed from its own token counts under the paper's prices, by type of question.

Answers with usage: the release of arXiv 2608.08055, LongMemEval-S, 500 questions; the judge is not in these figures.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean, median
from typing import Any

from experiments import common
from sodamem.build import build
from sodamem.errors import ConfigError, DataError
from sodamem.metric.cost import PriceTable
from sodamem.types import Usage

FILE = Path("sodamem_release") / "lme_s_500_judged.json"
MODEL = "deepseek-v4-flash"  # the release names no model; its paper, section 5.1, does
FIELDS = ("prompt_tokens", "cached_input_tokens", "completion_tokens", "total_tokens")


def usages(path: Path) -> list[tuple[str, Usage]]:
    """(type of question, usage) of every row; DataError for a row whose counts do not add up."""
    try:
        rows = json.loads(path.read_text(encoding="utf-8"))
        found = [(str(row["question_type"]), [int(row["usage_totals"][name]) for name in FIELDS]) for row in rows]
    except OSError as error:
        raise DataError(f"release must be at {path}: {error.strerror}. Set SODAMEM_DATA") from error
    except (ValueError, LookupError, TypeError) as error:
        raise DataError(f"{path} must hold rows with usage_totals of {', '.join(FIELDS)}, got {error!r}") from error
    for kind, (prompt, cached, completion, total) in found:
        if not cached <= prompt or prompt + completion != total:
            raise DataError(
                f"{path} must have cached <= prompt and prompt + completion = total; a row of {kind} has not"
            )
    return [
        (kind, Usage(phase="answer", model=MODEL, prompt=prompt, cached=cached, completion=completion))
        for kind, (prompt, cached, completion, _) in found
    ]


def row(kind: str, rows: Sequence[Usage], prices: PriceTable) -> dict[str, common.Cell]:
    tokens = [usage.prompt + usage.completion for usage in rows]
    dollars = [prices.dollars(usage) for usage in rows]
    cold = [prices.dollars(Usage(phase=u.phase, model=u.model, prompt=u.prompt, completion=u.completion)) for u in rows]
    prompt = sum(usage.prompt for usage in rows)
    return {
        "type": kind,
        "n": len(rows),
        "tokens_mean": fmean(tokens),
        "tokens_median": median(tokens),
        "cached_share": sum(usage.cached or 0 for usage in rows) / prompt,
        "dollars_mean": fmean(value for value in dollars if value is not None),
        "dollars_median": median(value for value in dollars if value is not None),
        "dollars_mean_cold": fmean(value for value in cold if value is not None),
        "prices": f"{prices.name} ({prices.as_of})",
    }


def table(rows: Sequence[Mapping[str, Any]]) -> str:
    lines = [
        f"{'type':28}{'n':>5}{'tokens: mean':>14}{'median':>11}{'cached':>8}{'$: mean':>12}{'median':>11}{'cold':>11}"
    ]
    for cells in rows:
        lines.append(
            "{type:28}{n:>5}{tokens_mean:>14,.2f}{tokens_median:>11,.1f}{cached_share:>8.3f}"
            "{dollars_mean:>12.7f}{dollars_median:>11.7f}{dollars_mean_cold:>11.7f}".format(**cells)
        )
    return "\n".join(lines)


def script() -> None:
    options = common.arguments(__doc__)
    options.add_argument("--prices", default="paper_2026_08", help="the option of conf/prices to use")
    given = options.parse_args()
    if not (data := os.environ.get("SODAMEM_DATA")):
        raise ConfigError("SODAMEM_DATA must name the folder of the data, got nothing. Export it")
    prices = price_table(given.prices)
    found = usages(Path(data) / FILE)
    kinds = sorted({kind for kind, _ in found})
    rows = [row("all", [usage for _, usage in found], prices)]
    rows += [row(kind, [usage for other, usage in found if other == kind], prices) for kind in kinds]
    print(f"{FILE.name}, {MODEL} at the prices of {prices.name} ({prices.as_of}); $ a question; cold: nothing cached")
    print(table(rows))
    common.save(rows, given.json)


def price_table(name: str) -> PriceTable:
    """An option of conf/prices, whether or not it is in the defaults."""
    from importlib import resources

    import yaml

    from sodamem.config import MODULE, options

    known = options().get("prices", [])
    if name not in known:
        raise ConfigError(f"prices must be one of {', '.join(known)}, got {name!r}")
    node = yaml.safe_load((resources.files(MODULE) / "prices" / f"{name}.yaml").read_text(encoding="utf-8"))
    found = build(node, "prices")
    assert isinstance(found, PriceTable)
    return found


if __name__ == "__main__":
    common.main(script)
