"""How `vllm serve` is to be started for a chat: what decides its replies, kept beside the model's name.

Batch-invariant kernels and a bound on sequences are settings because temperature 0 alone does not make replies
repeatable (vllm-project/vllm#5898, #51187).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from urllib.parse import urlsplit

from sodamem.errors import ConfigError

DTYPES = ("auto", "bfloat16", "float16", "float32")


@dataclass(frozen=True, kw_only=True)
class VllmServer:
    """Settings of one server process.

    weights: hub id or folder · revision: commit of the hub's repository, None for a folder · gpus: tensor-parallel
    size · max_num_seqs: sequences in one batch, None for the engine's own · start_timeout: seconds until the first
    reply, weights' download and warm-up included · extra_args: further words of the command line.
    """

    weights: str
    revision: str | None
    dtype: str
    seed: int
    batch_invariant: bool
    gpus: int
    max_num_seqs: int | None
    start_timeout: float
    extra_args: Sequence[str]

    def __post_init__(self) -> None:
        if self.dtype not in DTYPES:
            raise ConfigError(f"server.dtype must be one of {', '.join(DTYPES)}, got {self.dtype}")
        if self.gpus < 1:
            raise ConfigError(f"server.gpus must be >= 1, got {self.gpus}. On a CPU it is the number of processes")
        if self.max_num_seqs is not None and self.max_num_seqs < 1:
            raise ConfigError(f"server.max_num_seqs must be >= 1 or null, got {self.max_num_seqs}")
        if not self.start_timeout > 0:
            raise ConfigError(f"server.start_timeout must be > 0 seconds, got {self.start_timeout}")

    @property
    def identity(self) -> dict[str, object]:
        """What can change a reply: everything but the patience."""
        return {name: value for name, value in asdict(self).items() if name != "start_timeout"}

    def command(self, name: str, base_url: str, context: int) -> list[str]:
        """The command line that serves the weights under `name` at `base_url`, with `context` tokens."""
        url = urlsplit(base_url)
        words = ["vllm", "serve", self.weights, "--served-model-name", name]
        words += ["--host", str(url.hostname), "--port", str(url.port or 80), "--max-model-len", str(context)]
        words += ["--dtype", self.dtype, "--seed", str(self.seed), "--tensor-parallel-size", str(self.gpus)]
        if self.revision is not None:
            words += ["--revision", self.revision]
        if self.max_num_seqs is not None:
            words += ["--max-num-seqs", str(self.max_num_seqs)]
        return [*words, *self.extra_args]

    def environment(self) -> dict[str, str]:
        """Variables on top of the caller's own: no telemetry, and the batch-invariant flag as configured."""
        return {
            "VLLM_BATCH_INVARIANT": str(int(self.batch_invariant)),
            "VLLM_NO_USAGE_STATS": "1",
            "DO_NOT_TRACK": "1",
        }
