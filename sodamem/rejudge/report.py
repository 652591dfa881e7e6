"""The figures of a re-judging: accuracy of every judge, agreement of every pair, flips, and the accuracy behind it all.

Strict accuracy divides by the whole reference set: what is missing or unjudged is not correct. Judged accuracy divides
by what was judged. Neither is shown alone.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

from sodamem.metric.agreement import Quality, cohen_kappa, corrected, fleiss_kappa, gwet_ac1, observed
from sodamem.metric.statistics import cluster_bootstrap, holm, mcnemar, wilson
from sodamem.rejudge.rejudge import Opinion, Rejudged
from sodamem.report import columns
from sodamem.types import Verdict

DRAWS, SEED = 10_000, 20  # of the bootstrap over histories


def figures(
    found: Rejudged, quality: Mapping[str, Quality] | None = None, remarks: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """All of it as plain data. By digest of a judge: `quality`, what its admission counted, and `remarks` on that."""
    answers = found.answers
    return {
        "answers": {
            "name": answers.name,
            "sha256": answers.sha256,
            "questions": len(answers.questions),
            "answered": len(answers.answers),
            "notes": {reason: list(ids) for reason, ids in sorted(answers.notes.items())},
        },
        "judges": [
            _judge(found, opinion, (quality or {}).get(opinion.digest))
            | {"admission": (remarks or {}).get(opinion.digest, "")}
            for opinion in found.opinions
        ],
        "pairs": _pairs(found.opinions),
        "fleiss": _fleiss(found.opinions),
        "disagreements": len(found.disagreements),
    }


# --- one judge ----------------------------------------------------------------------------------------------


def _judge(found: Rejudged, opinion: Opinion, quality: Quality | None) -> dict[str, Any]:
    given = list(zip(found.answers.answers, opinion.counted, strict=True))
    asked = found.answers.questions
    labels: dict[str, Counter[str]] = defaultdict(Counter)
    for item, verdict in given:
        labels[item.question.category][verdict.label] += 1
    totals = Counter(question.category for question in asked)
    whole = sum(labels.values(), Counter[str]())
    row: dict[str, Any] = {"judge": opinion.name, "digest": opinion.digest, **_share(whole, len(asked))}
    row["by_type"] = {name: _share(labels[name], n) for name, n in sorted(totals.items())}
    if disputed := sum(bool(question.erratum) for question in asked):
        clean = Counter(str(verdict.label) for item, verdict in given if not item.question.erratum)
        row["without_errata"] = {"errata": disputed, **_share(clean, len(asked) - disputed)}
    row |= _clustered(found, opinion) | {"flips": _flips(opinion.verdicts), "tokens": _tokens(opinion)}
    reasons = Counter(verdict.reason for verdict in opinion.counted if verdict.label == "unjudged")
    row["unjudged_reasons"] = dict(sorted(reasons.items(), key=lambda entry: (-entry[1], entry[0])))
    judged = whole["correct"] + whole["incorrect"]
    if quality is not None and judged and (truth := corrected(whole["correct"], judged, quality)):
        row["corrected"] = {"share": truth.share, "low": truth.low, "high": truth.high, "of": judged}
    return row


def _share(labels: Mapping[str, int], n: int) -> dict[str, Any]:
    """Counts and both accuracies of one group of n questions; an accuracy of nothing is None."""
    correct, incorrect = labels.get("correct", 0), labels.get("incorrect", 0)
    low, high = wilson(correct, n) if n else (None, None)
    return {
        "n": n,
        "correct": correct,
        "incorrect": incorrect,
        "unjudged": labels.get("unjudged", 0),
        "missing": n - correct - incorrect - labels.get("unjudged", 0),
        "strict": correct / n if n else None,
        "strict_low": low,
        "strict_high": high,
        "judged": correct / (correct + incorrect) if correct + incorrect else None,
    }


def _clustered(found: Rejudged, opinion: Opinion) -> dict[str, Any]:
    """The interval from histories drawn again, where several questions share one; else Wilson's says it all."""
    right = {
        item.question.id: float(verdict.label == "correct")
        for item, verdict in zip(found.answers.answers, opinion.counted, strict=True)
    }
    asked = found.answers.questions
    clusters = [question.history_id for question in asked]
    if len(set(clusters)) in (1, len(clusters)):
        return {}
    interval = cluster_bootstrap([right.get(question.id, 0.0) for question in asked], clusters, draws=DRAWS, seed=SEED)
    return {"clustered": {"low": interval.low, "high": interval.high, "clusters": interval.clusters}}


def _tokens(opinion: Opinion) -> dict[str, int]:
    """What the judge's model read and wrote over all repeats, by attempt; a panel's are those of its members."""
    attempts = [usage for verdicts in opinion.verdicts for verdict in verdicts for usage in verdict.usage]
    sent = [usage for usage in attempts if not usage.cache_hit]
    return {
        "attempts": len(sent),
        "cache_hits": len(attempts) - len(sent),
        "prompt": sum(usage.prompt for usage in sent),
        "completion": sum(usage.completion for usage in sent),
    }


def _flips(repeats: Sequence[Sequence[Verdict]]) -> dict[str, Any] | None:
    """How many answers did not get the same verdict every time; None for a judge that was asked once."""
    if len(repeats) < 2:
        return None
    changed = sum(len({verdict.label for verdict in verdicts}) > 1 for verdicts in zip(*repeats, strict=True))
    low, high = wilson(changed, len(repeats[0]))
    shares = [sum(verdict.label == "correct" for verdict in verdicts) / len(verdicts) for verdicts in repeats]
    return {
        "repeats": len(repeats),
        "answers": len(repeats[0]),
        "changed": changed,
        "rate": changed / len(repeats[0]),
        "low": low,
        "high": high,
        "correct_by_repeat": shares,
    }


# --- several ------------------------------------------------------------------------------------------------


def _pairs(opinions: Sequence[Opinion]) -> list[dict[str, Any]]:
    """Every two judges over the answers that both judged; p is McNemar's, adjusted over all pairs by Holm."""
    rows: list[dict[str, Any]] = []
    for a, b in combinations(opinions, 2):
        both = [
            (x.label, y.label)
            for x, y in zip(a.counted, b.counted, strict=True)
            if "unjudged" not in (x.label, y.label)
        ]
        row: dict[str, Any] = {"a": a.name, "b": b.name, "n": len(both)}
        if both:
            left, right = zip(*both, strict=True)
            only_a, only_b = both.count(("correct", "incorrect")), both.count(("incorrect", "correct"))
            row |= {
                "agreement": observed(left, right),
                "kappa": cohen_kappa(left, right),
                "ac1": gwet_ac1(left, right),
                "only_a": only_a,
                "only_b": only_b,
                "p": mcnemar(only_a, only_b),
            }
        rows.append(row)
    adjusted = holm({str(place): row["p"] for place, row in enumerate(rows) if "p" in row})
    return [row | ({"p_holm": adjusted[str(place)]} if "p" in row else {}) for place, row in enumerate(rows)]


def _fleiss(opinions: Sequence[Opinion]) -> dict[str, Any] | None:
    """Agreement of all judges at once over the answers that all of them judged; None for fewer than three."""
    table = [
        [verdict.label for verdict in verdicts]
        for verdicts in zip(*(opinion.counted for opinion in opinions), strict=True)
    ]
    judged = [labels for labels in table if "unjudged" not in labels]
    if len(opinions) < 3 or not judged:
        return None
    return {"judges": [opinion.name for opinion in opinions], "n": len(judged), "kappa": fleiss_kappa(judged)}


# --- for people ---------------------------------------------------------------------------------------------


def describe(data: Mapping[str, Any]) -> str:
    """The figures as tables; what is not known is a dash."""
    answers = data["answers"]
    head = f"{answers['name']}: {answers['answered']} answers to {answers['questions']} questions"
    notes = ", ".join(f"{reason} {len(ids)}" for reason, ids in answers["notes"].items())
    lines = [f"{head} ({notes})" if notes else head, "", columns([*_accuracies(data)]), ""]
    if data["pairs"]:
        lines += [columns([*_agreements(data["pairs"])]), ""]
    if data["fleiss"]:
        lines.append(f"Fleiss' kappa of {len(data['fleiss']['judges'])}: {_number(data['fleiss']['kappa'])} "
                     f"over {data['fleiss']['n']} answers that all judged")  # fmt: skip
    lines.append(f"answers on which not all agree: {data['disagreements']}")
    for row in data["judges"]:
        lines += _remarks(row)
    return "\n".join(lines)


def _accuracies(data: Mapping[str, Any]) -> list[list[str]]:
    names = [row["judge"] for row in data["judges"]]
    body = [["strict accuracy", "n", *(f"{name} [95 %]" for name in names)]]
    groups = {"all": data["judges"]}
    groups |= {kind: [row["by_type"][kind] for row in data["judges"]] for kind in _types(data)}
    if all("without_errata" in row for row in data["judges"]):
        groups["without errata"] = [row["without_errata"] for row in data["judges"]]
    body += [[label, str(shares[0]["n"]), *map(_interval, shares)] for label, shares in groups.items()]
    body.append(["judged accuracy", "", *(_number(row["judged"]) for row in data["judges"])])
    body.append(["correct · incorrect · unjudged · missing", "", *(
        f"{row['correct']} · {row['incorrect']} · {row['unjudged']} · {row['missing']}" for row in data["judges"]
    )])  # fmt: skip
    return body


def _types(data: Mapping[str, Any]) -> list[str]:
    return list(data["judges"][0]["by_type"]) if data["judges"] else []


def _agreements(pairs: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    body = [["judges", "n", "agree", "kappa", "AC1", "only first", "only second", "McNemar p", "Holm p"]]
    for row in pairs:
        numbers = (_number(row.get(name)) for name in ("agreement", "kappa", "ac1"))
        counts = (str(row.get(name, "-")) for name in ("only_a", "only_b"))
        tests = (_number(row.get(name), "g") for name in ("p", "p_holm"))
        body.append([f"{row['a']} - {row['b']}", str(row["n"]), *numbers, *counts, *tests])
    return body


def _remarks(row: Mapping[str, Any]) -> list[str]:
    name, lines = row["judge"], []
    if interval := row.get("clustered"):
        lines.append(f"{name}: with {interval['clusters']} histories drawn again, strict accuracy is within "
                     f"{interval['low']:.3f} .. {interval['high']:.3f}")  # fmt: skip
    if flips := row["flips"]:
        rate = f"{flips['rate']:.3f} [{flips['low']:.3f}, {flips['high']:.3f}]"
        lines.append(f"{name}: {flips['changed']} of {flips['answers']} verdicts changed over {flips['repeats']} "
                     f"repeats ({rate})")  # fmt: skip
    if truth := row.get("corrected"):
        lines.append(f"{name}: corrected for its error rates at admission, {truth['share']:.3f} "
                     f"[{truth['low']:.3f}, {truth['high']:.3f}] of what it judged")  # fmt: skip
    if row["digest"] and row["unjudged_reasons"]:
        reasons = [f"{reason or 'no reason'} {count}" for reason, count in list(row["unjudged_reasons"].items())[:5]]
        lines.append(f"{name}: unjudged because {'; '.join(reasons)}")
    if (tokens := row["tokens"])["attempts"]:
        read = f"{tokens['prompt']:,} prompt and {tokens['completion']:,} completion tokens"
        lines.append(f"{name}: {tokens['attempts']} model calls, {read}, {tokens['cache_hits']} more from the cache")
    return [*lines, row["admission"]] if row["admission"] else lines


def _interval(share: Mapping[str, Any]) -> str:
    if share["strict"] is None:
        return "-"
    return f"{share['strict']:.3f} [{share['strict_low']:.3f}, {share['strict_high']:.3f}]"


def _number(value: float | None, style: str = "f") -> str:
    return "-" if value is None else f"{value:.3f}" if style == "f" else f"{value:.2g}"
