"""The command line: `sodamem <command> …`. A fault of the user's is one line on stderr and exit code 2."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence

from sodamem.errors import SodamemError

USAGE = """usage: sodamem COMMAND [ARGUMENTS]

  run [OVERRIDE ...]         run an experiment: sodamem run experiment=paper fusion.beta=0.2
  run -m OVERRIDE ...        run every combination: sodamem run -m fusion.beta=0,0.3,0.6
  ask --history FILE --at STAMP QUESTION [OVERRIDE ...] [--json]
                             ask about your own conversations
  check                      build every option of every group
  show GROUP=OPTION          configuration, class, file and formula of one option
  options                    every group and its options
  resolve --at STAMP TEXT [--json]
                             every time expression in a text, and how it is read
  facts --history FILE [--as-of STAMP] [--json]
                             the facts a memory holds, with their words, times and status

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


def _command(name: str) -> Callable[[list[str]], int]:
    # Imported when asked for: `sodamem resolve` should not pay for mlflow.
    from sodamem import commands
    from sodamem.errors import ConfigError

    known = {
        "run": commands.run,
        "ask": commands.ask,
        "check": commands.check,
        "show": commands.show,
        "options": commands.options,
        "resolve": commands.resolve,
        "facts": commands.facts,
    }
    if name not in known:
        raise ConfigError(f"command must be one of {', '.join(known)}, got {name!r}. See sodamem --help")
    return known[name]


if __name__ == "__main__":
    sys.exit(main())
