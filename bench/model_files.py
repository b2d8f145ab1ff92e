"""Model files: a GGUF as a folder that `transformers serve` can load.

Made once, in a process of its own and by the Python that will serve it, which has what transformers
wants for reading GGUF; so it imports nothing of ours. Two traps: the tied embedding is stored under
the embedding's name (other loaders start silently with random ones otherwise), and ``architectures``
stands in the config. It refuses to know who serves the folder.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def transformers_folder(work: Path, gguf: Path, python: str) -> Path:
    """The folder under ``work``, made by ``python`` when there is none yet (about 20 s).

    Raises CalledProcessError with what the conversion said.
    """
    target = work / f"{gguf.stem}-float32"
    if not target.is_dir():
        command = [python, "-m", "bench.model_files", str(gguf), str(target)]
        subprocess.run(command, check=True, capture_output=True)
    return target


def convert(gguf: Path, target: Path) -> None:
    """Write weights, configs and tokenizer of ``gguf`` into ``target``, which appears when whole."""
    from safetensors.torch import save_file
    from transformers import AutoModelForCausalLM, AutoTokenizer

    part = target.with_name(target.name + ".part")
    part.mkdir(parents=True, exist_ok=True)
    model = AutoModelForCausalLM.from_pretrained(gguf.parent, gguf_file=gguf.name)
    tensors = model.state_dict().items()
    state = {name: tensor.contiguous() for name, tensor in tensors if name != "lm_head.weight"}
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
    convert(Path(sys.argv[1]), Path(sys.argv[2]))
