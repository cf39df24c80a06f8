"""Answers puzzles with vLLM: for each file of puzzles a file of responses, to be scored.

    python recipes/answering/answer.py Qwen/Qwen3-8B puzzles/ responses/
    cogniload score --dataset puzzles/ responses/

Prompt and response share `--context-budget` tokens, as in the tasks for lm-eval. The decoding is
the model's own (its generation_config.json), but for what --sampling says. Each file is written
whole, and one that is there is not made again: killed, the same command goes on.
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from cogniload_gen.budget import (
    CONTEXT_BUDGET,
    Share,
    check_context_budget,
    check_fit,
    response_limit,
)
from cogniload_gen.checks import check_shard
from cogniload_gen.files import whole_file
from cogniload_gen.tables import find_tables, read_puzzles


def main() -> None:
    """Answer all files, or those of one shard, that have no responses yet."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("model", help="a Hugging Face name or folder")
    parser.add_argument("puzzles", type=Path, help="a file, or a folder of .parquet files")
    parser.add_argument("out", type=Path, help="the folder of the responses")
    parser.add_argument("--context-budget", type=int, default=CONTEXT_BUDGET)
    given: dict[str, Any] = {"type": json.loads, "default": {}, "metavar": "JSON"}
    parser.add_argument("--sampling", **given, help='{"temperature": 0.6, ...}')
    parser.add_argument("--engine", **given, help="more arguments of vllm.LLM")
    parser.add_argument("--shard", default="1/1", help="I/N: files I, I + N, I + 2N, ... alone")
    arguments = parser.parse_args()
    budget = check_context_budget(arguments.context_budget)
    shard, shards = check_shard(arguments.shard)
    files = find_tables(arguments.puzzles)[shard - 1 :: shards]
    outs = {file: name_out(file, arguments) for file in files}
    left = {file: out for file, out in outs.items() if not out.exists()}
    print(f"{len(outs)} files of puzzles, {len(outs) - len(left)} of them answered")
    if not left:
        return
    from vllm import LLM  # takes half a minute, and --help needs none

    model = LLM(arguments.model, max_model_len=budget, **arguments.engine)
    for file, out in left.items():
        rows = answer(model, [*read_puzzles(file)], budget, arguments.sampling)
        out.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(out) as part:
            pq.write_table(pa.Table.from_pylist(rows), part)
        print(f"{out}: {len(rows)} responses")


def name_out(file: Path, arguments: argparse.Namespace) -> Path:
    """Return where the responses to a file's puzzles belong: one folder, distinct names."""
    inner = file.relative_to(arguments.puzzles) if arguments.puzzles.is_dir() else Path(file.name)
    return Path(arguments.out, "-".join(inner.with_suffix(".parquet").parts))


def answer(
    model: Any, rows: list[dict[str, Any]], budget: int, sampling: dict[str, Any]
) -> list[dict[str, Any]]:
    """Return the responses to puzzles, each with what its prompt leaves of the budget.

    ValueError for prompts that leave nothing.
    """
    chats = [[{"role": "user", "content": row["puzzle"]}] for row in rows]
    encode = model.get_tokenizer().apply_chat_template
    shares = {}
    for row, chat in zip(rows, chats, strict=True):
        prompt = encode(chat, add_generation_prompt=True, return_dict=True)["input_ids"]
        shares[row["id"]] = Share(len(prompt), response_limit(len(prompt), budget), counted=True)
    check_fit("answer", [row | {"context_budget": budget} for row in rows], shares)
    settings = []
    for row in rows:
        parameters = model.get_default_sampling_params()
        for name, value in sampling.items():
            setattr(parameters, name, value)
        limit = shares[row["id"]].response_limit
        parameters.max_tokens = min(limit, sampling.get("max_tokens", limit))
        settings.append(parameters)
    return [
        {
            "id": row["id"],
            "response": output.outputs[0].text,
            "prompt_tokens": len(output.prompt_token_ids),
            "response_tokens": len(output.outputs[0].token_ids),
            "response_limit": parameters.max_tokens,
            "finish_reason": output.outputs[0].finish_reason,
        }
        for row, parameters, output in zip(rows, settings, model.chat(chats, settings), strict=True)
    ]


if __name__ == "__main__":
    try:
        main()
    except (ValueError, OSError) as error:
        sys.exit(f"answer.py: error: {error}")
