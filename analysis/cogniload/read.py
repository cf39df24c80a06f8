"""Stage 1: CogniLoad's responses, from lm-eval's files to one frame."""

import pandas as pd

from cogniload_analysis.cogniload.record import COGNILOAD
from cogniload_analysis.read import Paths, read_benchmarks


def read_samples(paths: Paths, *, text: bool = False) -> pd.DataFrame:
    """Read lm-eval's responses to CogniLoad into one frame, a row a response.

    A path is a results folder of lm-eval, whose models' folders are searched, or one
    `samples_*.jsonl`, gzipped or not. `paths` is one or several of them, or a mapping from labels
    to paths, whose runs are named by their label.

    Runs of one model that differ in anything that decides their scores (model arguments, decoding,
    chat template, limits, puzzles) have names of their own, such as "org/model, temperature 0".
    Runs that differ in nothing are attempts at the same puzzles. Columns: model (that name),
    setting (its part after the model or the label), task, date, generator_version, lm_eval_version,
    decoding (as lm-eval was told), backend, precision, device, chat_template, output_limit (""
    where unknown), until (the settings of the adaptive design that asked for the puzzles, as JSON),
    copies (of its file, which were left out), id, seed, d, N, rho (a fraction in (0, 1]), attempt
    (from 1), correct, outcome, prompt_tokens, response_tokens and context_budget (NaN where
    unknown, as the seed), ending ("ended" by itself, cut at an "output limit", with the "window"
    full, or "unknown"), chance (1 / options), steps_read (whether the reasoning could be read;
    False where the sample doesn't say), first_error (the statement; NaN for none), error (its kind;
    "" for none), recovered (False without an error), coverage (NaN where the sample holds no
    reading), index (the puzzle's, NaN where unknown), cut (whether a limit cut the response off),
    with `text` the response, and file and offset, by which `read_line` finds the whole sample.
    Raises FileNotFoundError for a path that isn't there, and ValueError for a label that is no
    name, when the paths hold no responses to CogniLoad, or when a line can't be read (file and line
    number are named).
    """
    return read_benchmarks(paths, [COGNILOAD], text=text)[COGNILOAD.name]
