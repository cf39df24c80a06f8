"""`cogniload eval --until` as its tests run it, on a server that answers by a known capacity."""

import math
import re
from itertools import pairwise
from zlib import crc32

import numpy as np
from eval_command import model_args

from cogniload_analysis.cogniload.capacity.curve import Link
from cogniload_analysis.cogniload.capacity.goodness_of_fit import refit_published
from cogniload_gen import solve
from cogniload_gen.cogniload.solve import solve_steps

CAPACITY = 20
N_EFF, DECAY = 14, -0.15


def respond_by_capacity(prompt):
    """Right with a chance that halves at CAPACITY statements: a pure function of the prompt."""
    statements = len(re.findall(r"^\d+\.", prompt, re.MULTILINE))
    chance = 1 / (1 + math.exp(3 * math.log(statements / CAPACITY)))
    value = solve(prompt)
    if crc32(prompt.encode()) / 2**32 < chance:
        return f"In the end it is {value}."
    return "I can't tell."


def respond_as_published(model):
    """Return a server's answers as a model of the paper would give them: with chance and Table 3.

    They are pure functions of the prompt, whose loads are read from its text.
    """
    accuracy = refit_published(model, Link(), interactions=True).accuracy

    def respond(prompt):
        solution = solve_steps(prompt)
        poi, states = solution.poi, solution.states
        needles = sum(after[poi] is not before[poi] for before, after in pairwise(states))
        d, N = len(states[0][poi]), len(states) - 1
        (chance,) = np.ravel(accuracy(d, N, needles / N))
        if crc32(prompt.encode()) / 2**32 < chance:
            return f"In the end it is {solution.answer}."
        return "I can't tell."

    return respond


def respond_by_decay(prompt):
    """To a symbolic puzzle of FACTOR: right with a chance that decays beyond N_EFF variables."""
    variables = len(set(re.findall(r"\bv\d+\b", prompt)))
    chance = min(0.99, math.exp(DECAY * (variables - N_EFF)))
    if crc32(prompt.encode()) / 2**32 < chance:
        return f"The answer is {solve(prompt)}."
    return "I can't tell."


def until_arguments(server, out, *others, goal="ECL50±20%", budget=128, task="cogniload"):
    return [
        *("eval", "--output_path", str(out), "--until", goal, "--budget", str(budget)),
        *("--model", "local-chat-completions", "--model_args", model_args(server)),
        *("--apply_chat_template", "--tasks", task, *others),
    ]
