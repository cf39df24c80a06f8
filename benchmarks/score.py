"""Speed of the scorer on one core: `python benchmarks/score.py`.

Scores 14,000 responses of 30 KB, the paper's grid answered at length. Half of them hold characters
beyond ASCII, as models' arrows and dashes are, which cost Python more to turn to lowercase.
"""

from machine import machine, timed

from cogniload_gen import generate_puzzles
from cogniload_gen.cogniload.score import score_response

RESPONSES, RESPONSE_BYTES, PUZZLES = 14_000, 30_000, 280


def write_response(puzzle: dict) -> str:
    """A chain of thought about a puzzle, 30 KB long, that ends in the right answer."""
    arrow = "→" if puzzle["index"] % 2 else "->"
    thoughts = "".join(
        f"**Step {line}** {arrow} so {puzzle['poi']} is next. Does everyone match?\n\n"
        for line in puzzle["puzzle"].splitlines()[1:-2]
    )
    conclusion = f"So {puzzle['poi']} is wearing, located in or had **{puzzle['answer']}**."
    repeats = 1 + RESPONSE_BYTES // len(thoughts.encode())
    return (thoughts * repeats)[: RESPONSE_BYTES - len(conclusion)] + "\n\n" + conclusion


def main() -> None:
    """Print responses and megabytes a second."""
    puzzles = generate_puzzles([1, 5, 10], 20, [25, 75], num_puzzles=PUZZLES // 6 + 1).to_pylist()
    gold = [
        {key: puzzle[key] for key in ("poi", "answer", "category", "options")}
        for puzzle in puzzles[:PUZZLES]
    ]
    responses = [write_response(puzzle) for puzzle in puzzles[:PUZZLES]]
    size = sum(len(response.encode()) for response in responses) * RESPONSES / PUZZLES
    with timed() as took:
        for _ in range(RESPONSES // PUZZLES):
            for response, keys in zip(responses, gold, strict=True):
                score_response(response, **keys)
    seconds = took.wall
    print(f"{RESPONSES:,} responses, {size / 1e6:.0f} MB: {seconds:.2f} s")
    print(f"{RESPONSES / seconds:,.0f} responses/s, {size / seconds / 1e6:.0f} MB/s")
    print(machine())


if __name__ == "__main__":
    main()
