"""pass@k and majority@k: every choice of k attempts, planted chances, missing answers."""

from collections import Counter
from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from cogniload_analysis import accuracy_by_attempts
from cogniload_analysis.cogniload.sections.attempts import attempts_sections
from cogniload_analysis.stats import chance_of_any, chance_of_majority
from cogniload_gen.answers import Sample


def by_lot(drawn):
    """The chance that the commonest of some answers is right, ties by lot; "" is no answer."""
    votes = Counter(answer for answer in drawn if answer)
    best = [answer for answer, count in votes.items() if count == max(votes.values())]
    return best.count("right") / len(best) if best else 0


@pytest.mark.parametrize("k", [1, 2, 3, 5, 7])
@pytest.mark.parametrize(
    "answers",
    [
        ["right"] * 3 + ["red"] * 2 + ["blue", ""],
        ["right", "red", "red", "blue", "blue", "green", "green"],
        ["right"] * 2 + [""] * 5,
        ["red"] * 4 + ["blue"] * 3,
        ["right"] * 7,
    ],
)
def test_chances_are_means_over_all_choices_of_attempts(answers, k):
    choices = list(combinations(answers, k))
    counts = Counter(answers)
    right, silent = counts.pop("right", 0), counts.pop("", 0)
    assert chance_of_majority(right, list(counts.values()), silent, k) == pytest.approx(
        np.mean([by_lot(drawn) for drawn in choices])
    )
    assert chance_of_any(right, len(answers), k) == pytest.approx(
        np.mean(["right" in drawn for drawn in choices])
    )


def attempt(puzzles=300, attempts=8, seed=2):
    """Each puzzle is solved with its own chance; wrong answers are one of two, or none."""
    generator = np.random.default_rng(seed)
    N = np.resize([20, 50, 100, 200], puzzles)
    chance = generator.beta(2, 2, puzzles) * 20 / N + 0.1
    correct = generator.random((attempts, puzzles)) < chance
    wrong = generator.choice(["red", "blue", ""], correct.shape, p=[0.5, 0.3, 0.2])
    columns = {"id": [f"p{i}" for i in range(puzzles)], "d": 3, "N": N, "rho": 0.5, "model": "m"}
    rows = [
        pd.DataFrame(columns | {"correct": right, "answer": np.where(right, "right", answer)})
        for right, answer in zip(correct, wrong, strict=True)
    ]
    return pd.concat(rows, ignore_index=True), chance


def test_a_table_has_the_planted_chances_within_its_intervals():
    frame, chance = attempt()
    table = accuracy_by_attempts(frame).set_index("k")
    assert table.index.tolist() == [1, 2, 4, 8]
    for k, row in table.iterrows():
        assert row["any_low"] < np.mean(1 - (1 - chance) ** k) < row["any_high"]
        assert row["majority_low"] < row["majority"] < row["majority_high"]
    assert table.loc[1, "any"] == pytest.approx(frame["correct"].mean())
    # One attempt that is no answer loses, so the majority of one is the accuracy.
    assert table.loc[1, "majority"] == pytest.approx(frame["correct"].mean())
    whole = frame.groupby("id")["answer"].agg(lambda answers: by_lot(list(answers)))
    assert table.loc[8, "majority"] == pytest.approx(whole.mean())
    (section,) = attempts_sections(frame)
    assert len(section.content[0].shown) == 4


def test_puzzles_of_which_none_has_a_wrong_answer():
    frame = attempt(200, 2)[0].assign(correct=True, answer="right").astype({"id": "category"})
    assert accuracy_by_attempts(frame)[["any", "majority"]].eq(1).all(axis=None)


def test_without_answers_there_is_no_majority_and_without_repeats_no_table():
    frame, _ = attempt(40)
    bare = accuracy_by_attempts(frame.drop(columns="answer"))
    assert bare["majority"].isna().all()
    wrong = frame.index[frame["correct"] == 0][0]  # as of a sample that an older scorer wrote
    partly = frame.astype({"answer": object})
    partly.loc[wrong, "answer"] = None
    assert accuracy_by_attempts(partly)["majority"].isna().all()
    assert bare["any"].tolist() == accuracy_by_attempts(frame)["any"].tolist()
    (section,) = attempts_sections(frame.drop(columns="answer"))
    assert "majority@k [%]" not in section.content[0].shown
    assert not attempts_sections(frame.drop_duplicates("id"))
    assert accuracy_by_attempts(frame.drop_duplicates("id")).empty
    assert Sample({}).answer is None
    assert Sample({"answer_read": {"value": None}}).answer == ""
    assert Sample({"answer_read": {"value": "red"}}).answer == "red"
