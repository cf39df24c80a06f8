# SPDX-License-Identifier: Apache-2.0
"""Writes puzzles as rows of Gym: python prepare.py OUT.jsonl '{"d": 3, "num_puzzles": 100}'."""

import json
import sys
from pathlib import Path
from typing import Any

from cogniload_gen import generate_puzzles


def prepare(output: Path, **parameters: Any) -> Path:
    """Write the puzzles of some parameters, of the train split if they name none."""
    agent = {"type": "responses_api_agents", "name": "cogniload_agent"}
    with output.open("w", encoding="utf-8") as lines:
        for row in generate_puzzles(**{"split": "train"} | parameters).to_pylist():
            asked = {"input": [{"role": "user", "content": row["puzzle"]}]}
            line = {"responses_create_params": asked, "row": row, "agent_ref": agent}
            lines.write(json.dumps(line, ensure_ascii=False) + "\n")
    return output


if __name__ == "__main__":
    prepare(Path(sys.argv[1]), **json.loads(sys.argv[2]))
