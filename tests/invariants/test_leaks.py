"""No prompt, configuration or line of code knows the benchmarks: a figure would then measure what was copied."""

import json
import os
from collections import defaultdict
from pathlib import Path

import pytest

from sodamem import text

ROOT = Path(__file__).parents[2]
GRAM = 8  # words of a gold answer that nobody writes by chance
OPENING = 4  # words of a question by which it is looked up; shorter ones could be anybody's
SCANNED = ("sodamem", "conf", "experiments")
SUFFIXES = {".txt", ".yaml", ".py", ".json"}
# Ids and reasons why a gold is disputed are about the benchmark itself.
ABOUT_DATA = ("sodamem/dataset/errata/",)


def questions_and_answers(folder):
    locomo = json.loads((folder / "locomo" / "locomo10.json").read_text(encoding="utf-8"))
    for row in (row for conversation in locomo for row in conversation["qa"]):
        yield row["question"], *(str(row[key]) for key in ("answer", "adversarial_answer") if key in row)
    for line in (folder / "longmemeval" / "questions_500_meta.jsonl").read_text(encoding="utf-8").splitlines():
        if line.strip():
            row = json.loads(line)
            yield row["question"], str(row["answer"])


def leaks(words, questions, grams):
    """Questions, and 8-grams of answers, that occur in a list of words."""
    for at in range(len(words) - OPENING + 1):
        if tuple(words[at : at + GRAM]) in grams:
            yield " ".join(words[at : at + GRAM])
        for question in questions.get(tuple(words[at : at + OPENING]), ()):
            if tuple(words[at : at + len(question)]) == question:
                yield " ".join(question)


def index(rows):
    questions, grams = defaultdict(set), set()
    for question, *answers in rows:
        asked = tuple(text.words(question))
        if len(asked) >= OPENING:
            questions[asked[:OPENING]].add(asked)
        for answer in answers:
            said = text.words(answer)
            grams |= {tuple(said[at : at + GRAM]) for at in range(len(said) - GRAM + 1)}
    return questions, grams


def scanned():
    found = [path for name in SCANNED for path in sorted((ROOT / name).rglob("*")) if path.suffix in SUFFIXES]
    return [path for path in found if not str(path.relative_to(ROOT)).startswith(ABOUT_DATA)]


def test_a_copied_question_or_answer_would_be_found():
    questions, grams = index([("What did Ann buy in May?", "a red bicycle with a basket and two large wheels")])
    assert list(leaks(text.words("# e.g. What did\n# Ann buy in May? (a bike)"), questions, grams))
    assert list(leaks(text.words("she bought a red bicycle with a basket and two more"), questions, grams))
    assert not list(leaks(text.words("What did Bob buy in May? A red bicycle with a bell"), questions, grams))


def test_everything_that_may_hold_a_copy_is_looked_at():
    names = {str(path.relative_to(ROOT)) for path in scanned()}
    assert {"sodamem/prompts/read.txt", "conf/config.yaml", "sodamem/pipeline.py"} <= names and len(names) > 150


@pytest.mark.data
def test_nothing_of_the_benchmarks_stands_in_prompts_configuration_or_code():
    folder = os.environ.get("SODAMEM_DATA")
    if not folder or not (Path(folder) / "locomo" / "locomo10.json").exists():
        pytest.skip("SODAMEM_DATA names no folder with locomo/locomo10.json and longmemeval/questions_500_meta.jsonl")
    questions, grams = index(questions_and_answers(Path(folder)))
    assert sum(map(len, questions.values())) > 2000 and len(grams) > 1000
    found = {
        str(path.relative_to(ROOT)): known
        for path in scanned()
        if (known := list(leaks(text.words(path.read_text(encoding="utf-8")), questions, grams)))
    }
    assert not found
