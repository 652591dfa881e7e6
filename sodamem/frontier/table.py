"""Systems as points of cost and accuracy, and who dominates whom: no less accurate, no more expensive, not the same.

Table 1 and Figure 2 of arXiv 2608.08055. Accuracy is a share, cost in US dollars for 1,000 questions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from sodamem.errors import ConfigError

RUNS = ("best", "median")
COSTS = ("mean", "median", "cold")
BASES = ("meas", "est")
_SYSTEM = {"name", "date", "model", "accuracy", "cost", "basis", "high", "bound", "note"}
_SCENARIO = {"run", "cost", "judge", "factor", "spread", "per_history"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Point:
    """A place on the map: accuracy as a share, cost in dollars for 1,000 questions."""

    name: str
    accuracy: float
    cost: float

    def dominates(self, other: Point) -> bool:
        """At least as accurate and at most as expensive, and not both the same."""
        no_worse = self.accuracy >= other.accuracy and self.cost <= other.cost
        return no_worse and (self.accuracy, self.cost) != (other.accuracy, other.cost)


@dataclass(frozen=True, kw_only=True, slots=True)
class System:
    """A row of the table. high: other end of a range of costs · bound: the cost is a lower bound."""

    point: Point
    date: str
    model: str
    basis: str
    high: float | None
    bound: bool
    note: str

    @property
    def name(self) -> str:
        return self.point.name


@dataclass(frozen=True, kw_only=True, slots=True)
class Scenario:
    """What the subject is taken to be; the fields are explained where scenarios are declared."""

    name: str
    run: str
    cost: str
    judge: str | None = None
    factor: float = 1.0
    spread: float = 1.0
    per_history: int | None = None


@dataclass(frozen=True, kw_only=True)
class Frontier:
    """The table with what is known of its subject.

    runs: correct answers of each of the subject's runs over `questions` · usage: its tokens over all questions ·
    prices: dollars for a million tokens · judges: name -> (wrong answers shown, accepted) · scenarios: name -> fields
    of Scenario · draws, seed: of every probability.
    """

    source: str
    subject: str
    questions: int
    runs: Sequence[int]
    median_cost: float
    usage: Mapping[str, int]
    prices: Mapping[str, float]
    history_tokens: int
    judges: Mapping[str, Sequence[int]]
    scenarios: Mapping[str, Mapping[str, object]]
    draws: int
    seed: int
    systems: Sequence[Mapping[str, object]]

    def __post_init__(self) -> None:
        if self.questions < 1 or self.draws < 1:
            raise ConfigError(f"questions and draws must be >= 1, got {self.questions} and {self.draws}")
        if not self.runs or not all(0 <= right <= self.questions for right in self.runs):
            raise ConfigError(f"runs must each be within 0..{self.questions}, at least one, got {list(self.runs)}")
        for field, names in (("usage", ("prompt", "cached", "completion")), ("prices", ("input", "cached", "output"))):
            if set(getattr(self, field)) != set(names):
                raise ConfigError(f"{field} must have {', '.join(names)}, got {', '.join(getattr(self, field))}")
        for name, shown in self.judges.items():
            if len(shown) != 2 or not 0 <= shown[1] <= shown[0] or not shown[0]:
                raise ConfigError(f"judges.{name} must be [shown, accepted], accepted of the shown, got {list(shown)}")
        listed = [system.name for system in self.table]
        if double := next((name for name in listed if listed.count(name) > 1), None):
            raise ConfigError(f"systems must have names of their own, got {double!r} twice")
        if self.subject not in listed:
            raise ConfigError(f"subject must be one of systems, got {self.subject!r}")
        for scenario in self.imagined:
            self.place(scenario)

    # --- the table ----------------------------------------------------------------------------------------------

    @property
    def table(self) -> list[System]:
        """All systems in the order of the table."""
        return [_system(place, row) for place, row in enumerate(self.systems)]

    @property
    def rivals(self) -> list[System]:
        """All but the subject."""
        return [system for system in self.table if system.name != self.subject]

    def rival(self, name: str) -> System:
        """One of them; raises ConfigError with the names there are."""
        for system in self.rivals:
            if system.name == name:
                return system
        raise ConfigError(f"rival must be one of {', '.join(system.name for system in self.rivals)}, got {name!r}")

    # --- the subject --------------------------------------------------------------------------------------------

    @property
    def imagined(self) -> list[Scenario]:
        """The declared scenarios, in their order."""
        return [_scenario(name, fields) for name, fields in self.scenarios.items()]

    def right(self, run: str) -> float:
        """Correct answers of the best or of the median run."""
        return max(self.runs) if run == "best" else median(self.runs)

    def cost(self, kind: str) -> float:
        """Answering alone: the mean or median question, or the mean one if nothing had been cached."""
        if kind == "median":
            return self.median_cost
        cached = self.usage["cached"] if kind == "mean" else 0
        dollars = (
            (self.usage["prompt"] - cached) * self.prices["input"]
            + cached * self.prices["cached"]
            + self.usage["completion"] * self.prices["output"]
        ) / 1e6
        return 1000 * dollars / self.questions

    @property
    def ingest(self) -> float:
        """Reading one history once for each of 1,000 questions, input alone: the least that extraction can cost."""
        return 1000 * self.history_tokens * self.prices["input"] / 1e6

    def place(self, scenario: Scenario) -> Point:
        """Where the subject stands in a scenario, the judge's errors taken out where it names a judge."""
        accuracy = self.right(scenario.run) / self.questions
        if scenario.judge is not None:
            if scenario.judge not in self.judges:
                raise ConfigError(f"scenarios.{scenario.name}.judge must be one of {', '.join(self.judges)}, "
                                  f"got {scenario.judge!r}")  # fmt: skip
            shown, accepted = self.judges[scenario.judge]
            accuracy = without_accepted(accuracy, accepted / shown)
        cost = self.cost(scenario.cost) + (self.ingest / scenario.per_history if scenario.per_history else 0)
        return Point(name=self.subject, accuracy=accuracy, cost=cost * scenario.factor)


def without_accepted(accuracy: float, share: float) -> float:
    """Accuracy when a judge accepts every right answer and that share of the wrong ones: (p - f) / (1 - f)."""
    return max(0.0, (accuracy - share) / (1 - share)) if share < 1 else 0.0


def dominated(by: Point, systems: Iterable[System]) -> list[str]:
    """Names of the systems that a point dominates, in their order."""
    return [system.name for system in systems if by.dominates(system.point)]


def pareto(points: Sequence[Point]) -> list[Point]:
    """The points that no other dominates, cheapest first."""
    front = [point for point in points if not any(other.dominates(point) for other in points)]
    return sorted(front, key=lambda point: (point.cost, point.name))


# --- rows -----------------------------------------------------------------------------------------------------


def _system(place: int, row: Mapping[str, Any]) -> System:
    where = f"systems[{place}]"
    if strange := sorted(set(row) - _SYSTEM):
        raise ConfigError(f"{where}.{strange[0]} must be one of {', '.join(sorted(_SYSTEM))}")
    if lacking := sorted({"name", "date", "model", "accuracy", "cost", "basis"} - set(row)):
        raise ConfigError(f"{where} must have {lacking[0]}, it has none")
    if not 0 <= row["accuracy"] <= 100 or row["cost"] <= 0:
        raise ConfigError(f"{where} must have accuracy within 0..100 and cost above 0, got {dict(row)}")
    if row["basis"] not in BASES:
        raise ConfigError(f"{where}.basis must be one of {', '.join(BASES)}, got {row['basis']!r}")
    return System(
        point=Point(name=str(row["name"]), accuracy=round(row["accuracy"] / 100, 6), cost=float(row["cost"])),
        date=str(row["date"]),
        model=str(row["model"]),
        basis=row["basis"],
        high=row.get("high"),
        bound=row.get("bound", False),
        note=str(row.get("note", "")),
    )


def _scenario(name: str, fields: Mapping[str, Any]) -> Scenario:
    where = f"scenarios.{name}"
    if strange := sorted(set(fields) - _SCENARIO):
        raise ConfigError(f"{where}.{strange[0]} must be one of {', '.join(sorted(_SCENARIO))}")
    found = Scenario(name=name, **{"run": "best", "cost": "mean"} | dict(fields))
    if found.run not in RUNS or found.cost not in COSTS:
        options = f"run of {', '.join(RUNS)} and cost of {', '.join(COSTS)}"
        raise ConfigError(f"{where} must have {options}, got {dict(fields)}")
    if found.factor <= 0 or found.spread < 1 or (found.per_history is not None and found.per_history < 1):
        raise ConfigError(f"{where} must have factor above 0, spread >= 1 and per_history >= 1, got {dict(fields)}")
    return found
