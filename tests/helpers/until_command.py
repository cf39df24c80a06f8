"""`cogniload eval --until` as its tests run it, on a server that answers by a known capacity."""

import math
import re
from zlib import crc32

from eval_command import model_args

from cogniload_gen import solve

CAPACITY = 20
N_EFF, DECAY = 14, -0.15


def respond_by_capacity(prompt):
    """Right with a chance that halves at CAPACITY statements: a pure function of the prompt."""
    statements = len(re.findall(r"^\d+\.", prompt, re.MULTILINE))
    return respond_with(1 / (1 + math.exp(3 * math.log(statements / CAPACITY))), prompt)


def respond_by_decay(prompt):
    """To a symbolic puzzle of FACTOR: right with a chance that decays beyond N_EFF variables."""
    variables = len(set(re.findall(r"\bv\d+\b", prompt)))
    return respond_with(min(0.99, math.exp(DECAY * (variables - N_EFF))), prompt)


def respond_with(chance, prompt):
    right = crc32(prompt.encode()) / 2**32 < chance
    return f"The answer is {solve(prompt)}." if right else "I can't tell."


def until_arguments(server, out, *others, goal="ECL50±20%", budget=128, task="cogniload"):
    return [
        *("eval", "--output_path", str(out), "--until", goal, "--budget", str(budget)),
        *("--model", "local-chat-completions", "--model_args", model_args(server)),
        *("--apply_chat_template", "--tasks", task, *map(str, others)),
    ]
