"""Examples of failures: the puzzle, the response's end and the bucket."""

import pandas as pd

from cogniload_analysis.read import read_line, show_controls

EXAMPLES = 10
RESPONSE_END = 1500
# A puzzle of 128K tokens is shown by its two ends.
PUZZLE_LENGTH = 40_000
BUCKETS = {
    "wrong_max_context": "ran out of context, or answered nothing",
    "wrong_logic": "a wrong value in the sentence about the person and the property",
    "wrong_logic_poi": "a wrong value in the sentence about the person",
    "wrong_logic_last_sentence": "a wrong value in the last sentence",
    "wrong_other": "no value of the property where the answer is looked for",
    "wrong_set": "another set of variables, or another number",
    "no_answer": "no answer that could be read",
    "max_context": "ran out of context, or answered nothing",
}


def pick_failures(frame: pd.DataFrame) -> list[dict[str, str | int]]:
    """Return up to ten wrong responses of the frame of `read_samples`, with their texts.

    They take turns over buckets and models, short puzzles first: a person can check them.
    Raises OSError where a samples file is no longer there.
    """
    sizes = [knob for knob in ("context", "N", "d") if knob in frame]
    wrong = frame[~frame["correct"]].sort_values(sizes, kind="stable")
    turns = wrong["model"].cat.codes - wrong["outcome"].cat.codes
    wrong = wrong.assign(
        again=wrong.groupby(["model", "outcome"], observed=True).cumcount(),
        turn=turns % len(frame["model"].cat.categories),
    ).sort_values(["again", "turn"], kind="stable")
    wrong["round"] = wrong.groupby("outcome", observed=True).cumcount()
    picked = wrong.sort_values(["round", "outcome"], kind="stable").head(EXAMPLES)
    return [_describe_failure(row) for row in picked.itertuples()]


def _describe_failure(row: tuple) -> dict[str, str | int]:
    sample = read_line(row.file, row.offset)
    responses = sample.get("filtered_resps")
    response = str(responses[0]) if isinstance(responses, list) and responses else ""
    # Samples made elsewhere may lack what neither score nor analysis needs.
    texts = {name: str(sample["doc"].get(name) or "") for name in ("puzzle", "question", "answer")}
    texts["puzzle"] = _shorten(texts["puzzle"])
    texts["response_end"] = response[-RESPONSE_END:]
    return {name: show_controls(text) for name, text in texts.items()} | {
        "model": row.model,
        "id": row.id,
        "load": _describe_load(row),
        "bucket": row.outcome,
        "meaning": BUCKETS[row.outcome],
        "omitted": max(0, len(response) - RESPONSE_END),
    }


def _describe_load(row: tuple) -> str:
    if hasattr(row, "rho"):
        return f"d = {row.d}, N = {row.N}, ρ = {100 * row.rho:g} %"
    return f"{row.suite}, N = {row.N}, context {row.context:,} tokens, noise {row.noise}"


def _shorten(puzzle: str) -> str:
    left_out = len(puzzle) - PUZZLE_LENGTH
    if left_out <= 0:
        return puzzle
    half = PUZZLE_LENGTH // 2
    return f"{puzzle[:half]}\n\n[… {left_out:,} characters left out …]\n\n{puzzle[-half:]}"
