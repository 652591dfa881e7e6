"""A run of 40 questions that is killed and taken up again: FOLDER SEED KILLS. One interpreter, one fork a sitting.

Every call that reaches the model is billed by a line in FOLDER/billed; it is 3 calls a question.
"""

import os
import random
import signal
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from sodamem.chat.cached import CachedChat
from sodamem.chat.scripted import ScriptedChat
from sodamem.ledger import Ledger
from sodamem.types import ChatRequest, Message

QUESTIONS, PHASES = 40, ("plan", "read", "judge")
SETTINGS = {"read": {"model": "scripted"}}


@dataclass(frozen=True, kw_only=True)
class Billed:
    """A chat whose every call costs a line, from the moment it is asked."""

    chat: ScriptedChat
    bill: Path

    @property
    def digest(self):
        return self.chat.digest

    def served(self):
        return self.chat.served()

    def ask(self, request):
        with self.bill.open("ab", buffering=0) as bill:
            bill.write(f"{request.phase} {request.messages[0].content}\n".encode())
        time.sleep(0.002)
        return self.chat.ask(request)


def sitting(folder):
    """Everything that is left of the run."""
    rules = [{"pattern": r"question (\d+)", "text": r"answer \1"}]
    billed = Billed(chat=ScriptedChat(model="scripted", rules=rules), bill=folder / "billed")
    cached = CachedChat(chat=billed, path=folder / "replies.sqlite", mode="use")
    with Ledger(folder / "ledger.sqlite", SETTINGS) as ledger:
        chat = ledger.watch(cached)
        for number in range(QUESTIONS):
            question = f"q{number:02}"
            if ledger.done(question):
                continue
            with ledger.scope(question):
                said = [chat.ask(request(phase, number)).text for phase in PHASES]
            ledger.finish(question, 0, "ok", {"said": said, "number": number})


def request(phase, number):
    return ChatRequest(phase=phase, messages=(Message(role="user", content=f"question {number}"),), max_tokens=50)


def main(folder, seed, kills):
    """Kill sittings at random moments spread over the whole run; print how many were killed at work."""
    rng, landed = random.Random(seed), 0
    for _ in range(kills):
        if (child := os.fork()) == 0:
            sitting(folder)
            os._exit(0)
        target, over = calls(folder) + rng.randint(0, 2 * QUESTIONS * len(PHASES) // kills), False
        while calls(folder) < target and not over:
            time.sleep(0.0005)
            over = os.waitpid(child, os.WNOHANG) != (0, 0)
        if not over:
            time.sleep(rng.uniform(0.0, 0.006))
            os.kill(child, signal.SIGKILL)
            landed += os.WIFSIGNALED(os.waitpid(child, 0)[1])
    sitting(folder)
    print(landed)


def calls(folder):
    return (folder / "billed").read_bytes().count(b"\n") if (folder / "billed").exists() else 0


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
