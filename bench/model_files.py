"""Model files: the default GGUF as a folder that `transformers serve` can load.

Made once, in a process of its own, so that a gigabyte of tensors does not stay in the benchmark.
Two traps: the tied embedding is stored under the embedding's name (other loaders start silently
with random ones otherwise), and ``architectures`` stands in the config. It refuses to know who
serves the folder.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from app.engine.weights import packaged_file

_NAME = "SmolLM2-135M-Instruct-fp32"


def transformers_folder(work: Path) -> Path:
    """The folder under ``work``; converts when there is none yet (about 20 s)."""
    target = work / _NAME
    if not target.is_dir():
        subprocess.run(
            [sys.executable, "-m", "bench.model_files", str(target)], check=True, capture_output=True
        )
    return target


def convert(gguf: Path, target: Path) -> None:
    """Write weights, configs and tokenizer of ``gguf`` into ``target``, which appears when whole."""
    from safetensors.torch import save_file
    from transformers import AutoModelForCausalLM, AutoTokenizer

    part = target.with_name(target.name + ".part")
    part.mkdir(parents=True, exist_ok=True)
    model = AutoModelForCausalLM.from_pretrained(gguf.parent, gguf_file=gguf.name)
    state = {
        name: tensor.contiguous() for name, tensor in model.state_dict().items() if name != "lm_head.weight"
    }
    save_file(state, part / "model.safetensors", metadata={"format": "pt"})
    config = model.config
    config.architectures = [type(model).__name__]
    config.tie_word_embeddings = True
    if hasattr(config, "quantization_config"):
        del config.quantization_config
    config.save_pretrained(part)
    model.generation_config.save_pretrained(part)
    AutoTokenizer.from_pretrained(gguf.parent, gguf_file=gguf.name).save_pretrained(part)
    part.rename(target)


if __name__ == "__main__":
    convert(packaged_file(), Path(sys.argv[1]))
