"""What is planted holds: the model's limit and its text, and what each server does."""

import json
from urllib.request import Request, urlopen

import pytest
from planted_model import Model, is_wrong
from planted_server import Face, serving

from cogniload_gen import generate_puzzles, read_steps, score

ROWS = generate_puzzles(d=[1, 2], N=[5, 20], rho=[25, 75], num_puzzles=10).to_pylist()


def ask(server, puzzle, **settings):
    """The text and the reasoning of a chat completion."""
    body = {"model": "solver", "messages": [{"role": "user", "content": puzzle}]} | settings
    url = f"http://127.0.0.1:{server.server_port}/v1/chat/completions"
    with urlopen(Request(url, json.dumps(body).encode())) as answer:
        message = json.load(answer)["choices"][0]["message"]
    return message["content"], message.get("reasoning_content")


@pytest.mark.parametrize("cause", ["each", "position", "hay", "needles", "d", "step"])
def test_half_of_the_puzzles_are_solved_at_the_limit(cause):
    model = Model(((cause, 1),), limit=16)
    assert model.accuracy(8) > 0.55 > model.accuracy(16) > 0.45
    assert model.accuracy(32) < model.accuracy(16)


def test_it_says_what_it_tracks_and_goes_on_from_its_own_text():
    for row in ROWS:
        steps, final = Model().respond(row["puzzle"])
        right, read = not is_wrong(row["puzzle"], final), read_steps(steps + final, row)
        assert score(steps + final, row).correct == right
        assert right or not read.read or read.first_error is not None
        half = steps[: steps.index("\n", len(steps) // 2) + 1]
        rest = Model().respond(f"{row['puzzle']}\n{half}")
        assert (half + rest[0], rest[1]) == (steps, final)


@pytest.mark.parametrize("honours", [True, False])
def test_a_seed_counts_where_it_is_honoured_and_at_a_temperature(honours):
    with serving(Face(seed=honours, reasoning="inline", emoji=True)) as server:
        said = [
            [ask(server, row["puzzle"], seed=seed, temperature=temperature) for row in ROWS]
            for seed, temperature in ((1, 0), (2, 0), (1, 0.6), (1, 0.6), (2, 0.6))
        ]
    assert said[0] == said[1]
    assert (said[2] == said[3]) == honours
    assert said[2] != said[4]
    assert any("\ud83d" in text for text, _ in said[0])
