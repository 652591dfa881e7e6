"""LongMemEval's own judge: its templates, read at run time from the user's copy of evaluate_qa.py, and its parsing.

The file is parsed and never executed; its hash is part of the judge's digest. Wu et al. 2025, src/evaluation.
"""

from __future__ import annotations

import ast
import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from string import Formatter

from sodamem import text
from sodamem.errors import ConfigError, DataError, ModelError
from sodamem.judge.identity import FAILED, Again
from sodamem.protocols import Chat, Judge
from sodamem.types import Answer, ChatRequest, Label, Message, Question, Verdict

FUNCTION = "get_anscheck_prompt"
PARAMETERS = ["task", "question", "answer", "response", "abstention"]
ABSTENTION = "abstention"  # stands for the template of unanswerable questions, among those of the types
PARSINGS = ("official", "strict")
_ONE_WORD = re.compile(r"\W*(yes|no)\W*", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class OfficialJudge(Judge):
    """The benchmark's prompts with our client.

    path: the user's evaluate_qa.py · parsing: `official` takes any reply that holds "yes" for correct, everything else
    for incorrect; `strict` takes a plain yes or no, anything else is unjudged. The reason says what either makes of the
    reply · max_tokens: of the reply; the benchmark grants 10.
    """

    name: str
    chat: Chat
    path: str | None
    parsing: str
    max_tokens: int

    def __post_init__(self) -> None:
        if self.parsing not in PARSINGS:
            raise ConfigError(f"judge.parsing must be one of {', '.join(PARSINGS)}, got {self.parsing!r}")
        if self.max_tokens < 1:
            raise ConfigError(f"judge.max_tokens must be >= 1, got {self.max_tokens}")

    @cached_property
    def digest(self) -> str:
        sha256, _ = self._source
        return text.digest("official/1", self.chat.digest, sha256, self.parsing, self.max_tokens)

    def repeated(self, number: int) -> OfficialJudge:
        return replace(self, chat=Again(chat=self.chat, number=number))

    def grade(self, question: Question, answer: Answer) -> Verdict:
        if answer.status == "failed":
            return Verdict(label="unjudged", judge=self.name, reason="the answer failed")
        sha256, templates = self._source
        kind = question.category if question.answerable else ABSTENTION
        if kind not in templates:
            return Verdict(label="unjudged", judge=self.name, reason=f"official: no template for type {kind}")
        prompt = templates[kind].format(question.text, question.gold, answer.text)
        request = ChatRequest(
            phase="judge", messages=(Message(role="user", content=prompt),), max_tokens=self.max_tokens
        )
        try:
            reply = self.chat.ask(request)
        except ModelError as error:
            return Verdict(label="unjudged", judge=self.name, reason=f"{FAILED}{error.reason}", usage=error.usage)
        labels: dict[str, Label] = {"official": _official(reply.text), "strict": _strict(reply.text)}
        said = ", ".join(f"{parsing} parsing {label}" for parsing, label in labels.items())
        reason = f"official: {kind} of evaluate_qa.py {sha256[:12]}; {said}"
        return Verdict(label=labels[self.parsing], judge=self.name, reason=reason, raw=reply.text, usage=reply.usage)

    @cached_property
    def _source(self) -> tuple[str, Mapping[str, str]]:
        if self.path is None:
            raise ConfigError("judge.path must name LongMemEval's evaluate_qa.py, got null. Get it from its repository")
        try:
            source = Path(self.path).read_bytes()
        except OSError as error:
            reason = (error.strerror or "").lower()
            raise DataError(f"judge.path must name a readable file, got {self.path} ({reason})") from error
        return hashlib.sha256(source).hexdigest(), templates_of(source, self.path)


def _official(reply: str) -> Label:
    return "correct" if "yes" in reply.lower() else "incorrect"


def _strict(reply: str) -> Label:
    said = _ONE_WORD.fullmatch(reply)
    return "unjudged" if said is None else "correct" if said[1].lower() == "yes" else "incorrect"


# --- reading without running ----------------------------------------------------------------------------------


def templates_of(source: bytes, name: str) -> dict[str, str]:
    """Type of question -> template with three places, and `abstention` -> its own.

    Raises DataError where the function is not of the form that is understood, rather than guess.
    """
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError) as error:
        raise DataError(f"{name} must be Python, and cannot be parsed ({error})") from None
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name == FUNCTION:
            if [argument.arg for argument in node.args.args] != PARAMETERS:
                raise _unknown(name, f"parameters {', '.join(PARAMETERS)}")
            return dict(_function(node, name))
    raise _unknown(name, "that function")


def _function(node: ast.FunctionDef, name: str) -> Iterator[tuple[str, str]]:
    match node.body:
        case [ast.If(test=ast.UnaryOp(ast.Not(), ast.Name("abstention")), body=[chain], orelse=other), *_]:
            yield ABSTENTION, _template(other, name)
        case _:
            raise _unknown(name, "the form `if not abstention: ... else: ...`")
    while isinstance(chain, ast.If):
        for kind in _types(chain.test, name):
            yield kind, _template(chain.body, name)
        match chain.orelse:
            case [ast.If() as chain]:
                continue
            case _:
                return
    raise _unknown(name, "a chain of types")


def _types(test: ast.expr, name: str) -> list[str]:
    match test:
        case ast.Compare(ast.Name("task"), [ast.Eq()], [ast.Constant(str(kind))]):
            return [kind]
        case ast.Compare(ast.Name("task"), [ast.In()], [ast.List(kinds) | ast.Tuple(kinds)]):
            found = [kind.value for kind in kinds if isinstance(kind, ast.Constant) and isinstance(kind.value, str)]
            if len(found) == len(kinds):
                return found
    raise _unknown(name, "comparisons of task with names")


def _template(body: list[ast.stmt], name: str) -> str:
    """The text that a branch assigns to `template` and fills with question, answer and response, in this order."""
    match body:
        case [
            ast.Assign([ast.Name("template")], ast.Constant(str(template))),
            ast.Assign(value=ast.Call(ast.Attribute(ast.Name("template"), "format"), args=filled)),
        ]:
            places = [field for _, field, _, _ in Formatter().parse(template) if field is not None]
            order = [argument.id for argument in filled if isinstance(argument, ast.Name)]
            if places == ["", "", ""] and order == PARAMETERS[1:4]:
                return template
    raise _unknown(name, "templates filled with question, answer and response")


def _unknown(name: str, lacking: str) -> DataError:
    return DataError(f"{name} must hold {FUNCTION} of LongMemEval's evaluate_qa.py with {lacking}, and does not")
