"""What the report measures of compactors whose losses are planted."""

from random import Random

import compactor
import pytest

from cogniload_analysis.cogniload.sections.compaction import (
    compaction_sections,
    costs_table,
    facts_table,
)
from cogniload_gen import generate_puzzles

SIZE = {"d": 3, "N": 16, "rho": 50, "twin": "question=state"}
ERRS = 0.1


@pytest.fixture(scope="module")
def talks():
    """Conversations of 60 puzzles, with planted compactors; a tenth of the replies is wrong."""
    rows = generate_puzzles(**SIZE, num_puzzles=60, seed=7).to_pylist()
    draws = Random(7)  # noqa: S311
    spoils = {name: make(7) for name, make in compactor.PLANTED.items()}
    return compactor.conversations(rows, spoils, lambda: draws.random() < ERRS)


@pytest.fixture(scope="module")
def facts(talks):
    return facts_table(talks).set_index("history")


@pytest.fixture(scope="module")
def costs(talks):
    return costs_table(talks).set_index("history")


def test_losses_are_measured_as_they_were_planted(facts):
    assert facts.loc["keeps all", ["kept", "matter", "others"]].tolist() == [1, 1, 1]
    assert facts.loc["drops a tenth", "anew"] == pytest.approx(0.1, abs=0.02)
    assert facts.loc["drops two fifths", "anew"] == pytest.approx(0.4, abs=0.04)
    shares = facts[["kept", "lost", "changed", "invented"]]
    assert shares.sum(axis=1).tolist() == pytest.approx([1] * len(facts))
    assert (shares.loc["swaps two people", ["lost", "invented"]] == 0).all()
    assert facts.loc["gives a person another's values", "lost"] == 0
    assert facts.loc["invents a person's values", "invented"] > 0.2
    assert [n for n in facts.index if n in compactor.ORDERED] == compactor.ORDERED


def test_what_is_lost_costs_what_the_states_say(costs):
    rows = generate_puzzles(**SIZE, num_puzzles=150, seed=8).to_pylist()
    for name in ("drops a fifth", "swaps two people"):
        true = (1 - ERRS) * compactor.true_cost(rows, compactor.PLANTED[name](8))
        assert costs.loc[name, "cost_low"] < true < costs.loc[name, "cost_high"]
    assert costs.loc["keeps all", "cost_low"] < 0 < costs.loc["keeps all", "cost_high"]


def test_wrong_turns_are_told_apart_by_what_was_planted(costs):
    planted = costs.drop("compacted_true")
    wrong = planted[["by_summary", "both", "reasoning"]].sum(axis=1)
    assert wrong.tolist() == pytest.approx((1 - planted["accuracy"]).tolist())
    assert costs.loc["keeps all", ["by_summary", "both"]].tolist() == [0, 0]
    # of the turns that a bad summary spoils, a tenth would have been wrong anyway
    spoilt = planted.drop("keeps all")[["by_summary", "both"]].sum()
    assert spoilt["both"] / spoilt.sum() == pytest.approx(ERRS, abs=0.05)
    assert costs.loc["compacted_true"].isna()["cost"]


def test_the_section_begins_with_what_summaries_keep_and_what_the_rest_costs(talks, facts, costs):
    (section,) = compaction_sections(talks)
    said, figure, *tables = section.content
    assert len(said) == len(compactor.PLANTED)
    alone = [each for each in talks if each["history"] in ("drops a tenth", "compacted_true")]
    ((sentence,), *_) = compaction_sections(alone)[0].content
    kept, cost = facts.loc["drops a tenth"], costs.loc["drops a tenth"]
    ends = [round(100 * kept[name]) for name in ("kept", "kept_low", "kept_high")]
    points = [round(100 * cost[name]) for name in ("cost", "cost_low", "cost_high")]
    assert sentence == (
        "Summaries keep {} % of the facts ({} to {}); the lost ones cost {} points ({} to {})."
    ).format(*ends, *points)
    assert [table.name for table in tables] == ["compaction", "turns"]
    (panel,) = figure.panels
    assert {series.label for series in panel.series} == {*compactor.PLANTED}
    lines = {series.label: [*series.y] for series in panel.series}
    assert set(lines["keeps all"]) == {1}
    # what is dropped at each summary stays lost until it is told anew
    assert lines["drops a fifth"][0] > lines["drops a fifth"][-1]


def test_without_a_control_nothing_is_said_of_costs_and_without_summaries_of_turns_alone(talks):
    kept = [each for each in talks if each["history"] == "keeps all"]
    ((sentence,), *_) = compaction_sections(kept)[0].content
    assert sentence.startswith("Summaries keep 100 % of the facts (")
    assert sentence.endswith("100).")
    true = [each for each in talks if each["history"] == "compacted_true"]
    (section,) = compaction_sections(true)
    assert section.heading == "Turn by turn"
    assert [each.name for each in section.content] == ["turns"]
    assert compaction_sections([]) == []
