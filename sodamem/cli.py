"""The command line: `sodamem <command> …`. A fault of the user's is one line on stderr and exit code 2."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module

from sodamem.errors import ConfigError, SodamemError

USAGE = """usage: sodamem COMMAND [ARGUMENTS]

experiments
  run [OVERRIDE ...]            one experiment: sodamem run experiment=paper fusion.beta=0.2
  run -m OVERRIDE ...           every combination: sodamem run -m fusion.beta=0,0.3,0.6
  sweep study=NAME [-m]         search a space of settings with Optuna, on the dev split; -m: through a launcher
  ablate family=NAME            what each part contributes: paired differences with intervals
  learn --out FILE              coefficients of fusion=learned, from the dev split
judging
  rejudge hypotheses=NAME       judge anybody's answers again, with any judges, side by side
  admit judge=NAME              test a judge on labelled answers before its verdicts count
  frontier                      cost against accuracy, who dominates whom, and how sure that is
memory
  ask --history FILE --at STAMP QUESTION
                                ask your own conversations
  facts --history FILE          the facts a memory holds, with their words, times and status
  resolve --at STAMP TEXT       every time expression in a text, and how it is read
system
  check                         build every option of every group
  options                       every group and its options
  show GROUP=OPTION             configuration, class, file and formula of one option
  serve CHAT                    start the vLLM server that a chat option names, and wait until it answers

An OVERRIDE is Hydra's: group=option, key=value, +key=value, ~key. `sodamem COMMAND --help` says more.
SODAMEM_DATA, SODAMEM_MODELS and SODAMEM_RUNS name folders; SODAMEM_DEBUG=1 shows tracebacks.
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Entry point; returns the exit code: 0, 1 when something that was tried failed, 2 for a fault in the input."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    if not arguments or arguments[0] in ("-h", "--help", "help"):
        print(USAGE, end="")
        return 0 if arguments else 2
    if arguments[0] == "--version":
        from sodamem import __version__

        print(f"sodamem {__version__}")
        return 0
    try:
        return _command(arguments[0])(arguments[1:])
    except SodamemError as error:
        if os.environ.get("SODAMEM_DEBUG"):
            raise
        print(f"sodamem: {' '.join(str(error).split())}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the reader of our output has gone: no fault
        return 0
    except KeyboardInterrupt:
        print("sodamem: interrupted; what was committed to the stores is kept", file=sys.stderr)
        return 130


COMMANDS = {
    "run": "sodamem.commands",
    "ask": "sodamem.commands",
    "facts": "sodamem.commands",
    "resolve": "sodamem.commands",
    "check": "sodamem.commands",
    "show": "sodamem.commands",
    "options": "sodamem.commands",
    "sweep": "sodamem.commands_sweeps",
    "ablate": "sodamem.commands_sweeps",
    "learn": "sodamem.commands_sweeps",
    "rejudge": "sodamem.commands_judging",
    "admit": "sodamem.commands_judging",
    "frontier": "sodamem.commands_judging",
    "serve": "sodamem.serve",
}


def _command(name: str) -> Callable[[list[str]], int]:
    """The function of a command, its module imported only now: `sodamem resolve` should not pay for mlflow."""
    if name not in COMMANDS:
        raise ConfigError(f"command must be one of {', '.join(COMMANDS)}, got {name!r}. See sodamem --help")
    found: Callable[[list[str]], int] = getattr(import_module(COMMANDS[name]), name)
    return found


if __name__ == "__main__":
    sys.exit(main())
