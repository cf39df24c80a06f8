"""Why a model fails: causes that are planted are named, and effects are those by hand."""

import runpy
from math import factorial

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from scipy.stats import binom, chi2
from source_tree import ROOT
from stored import cases

from cogniload_analysis import explain_failures
from cogniload_analysis.compare.causes import (
    NEAR,
    count_trials,
    fit,
    loss,
    share_slips,
    show_causes,
)
from cogniload_analysis.compare.why import FAILED, SOLVED, count_repeats, split_id

STUDY = runpy.run_path(str(ROOT / "studies/twin_causes.py"))


def frame_of(**columns):
    """Responses by the change of each column, a character a puzzle: 1 right, 0 wrong, - none."""
    ends = {name: "" if name == "original" else f"~{name.replace('_', '=')}" for name in columns}
    rows = [
        (f"p-{place}{ends[change]}", mark == "1")
        for change, marks in columns.items()
        for place, mark in enumerate(marks)
        if mark != "-"
    ]
    return pd.DataFrame(rows, columns=["id", "correct"])


def with_loads(frame):
    """The same responses, to puzzles of 100 statements with 25 needles."""
    needles = {"tail": 6, "from": 24, "only": 1}
    return frame.assign(N=100, needles=[needles.get(split_id(id)[1], 25) for id in frame["id"]])


@pytest.mark.parametrize("cause", STUDY["PLANTED"])
def test_planted_causes_are_named_and_no_others(cause):
    """One run, of fixed draws: the study says how often it is right. Of two, one may be open."""
    model = STUDY["PLANTED"][cause]
    why = explain_failures(STUDY["simulate"](model, 80, np.random.default_rng(4)))
    alone = len(model.causes) == 1
    assert why.misfit is None
    assert {*why.causes} == {*model.causes} if alone else {*why.causes} <= {*model.causes}
    assert why.shares["share"].sum() == pytest.approx(1)
    assert ("step" in set(why.shares["cause"])) == ("step" in model.causes)
    assert why.shares["low"].le(why.shares["high"]).all()
    named = why.shares[why.shares["cause"].isin(why.causes)]
    assert named["share"].ge(0.1).all()
    assert all(f"({100 * share:.0f} % of its errors" in why.verdict[0] for share in named["share"])
    if alone:
        assert named["high"].max() == 1  # the end itself, not what comes close to it
        assert named["share"].sum() > 0.5


def test_where_the_best_explanation_misses_a_twin_no_cause_is_named():
    """A short text with hay fails always, and longer ones do not: no cause is such."""
    frame = STUDY["simulate"](STUDY["PLANTED"]["hay"], 80, np.random.default_rng(4))
    short = frame["id"].str.contains("~tail")
    why = explain_failures(frame.assign(correct=frame["correct"] & ~short))
    assert why.causes == ()
    assert (why.misfit.change, why.misfit.seen) == ("tail", 0)
    assert why.misfit.expected > 0.3
    assert why.verdict[0].startswith(
        "None of the known causes explains its failures: of the puzzles"
    )
    assert "0 % are solved in the twin “equally short, with hay”" in why.verdict[0]


def test_no_hay_is_the_text_of_the_needles():
    trials = count_trials(with_loads(frame_of(original="01", needles="11", hay_0="10")))
    assert sorted(trials.change) == ["", "", *["needles"] * 4]


def repeat(frame, greedy):
    """The same responses of a server that answers a prompt alike: its text is its result's."""
    base, change = zip(*map(split_id, frame["id"]), strict=True)
    prompt = [
        "needles" if each == "hay=0" else each.replace("again", "original") for each in change
    ]
    frame = frame.assign(base=base, prompt=prompt, greedy=greedy)
    frame["correct"] = frame.groupby(["base", "prompt"])["correct"].transform("first")
    frame["said"] = frame["base"] + frame["prompt"] + frame["correct"].astype(str)
    return frame.drop(columns=["base", "prompt"])


@pytest.mark.parametrize("greedy", [True, False])
@pytest.mark.parametrize(
    "cause", ["hay", "needles", "each", "position", "step", "each, last value"]
)
def test_no_cause_rests_on_repeats_that_repeat_nothing(cause, greedy):
    model = STUDY["PLANTED"][cause]
    frame = STUDY["simulate"](model, 80, np.random.default_rng(5))
    why = explain_failures(repeat(frame, greedy))
    assert {*why.causes} == {*model.causes}
    assert "320 of 320 further answers repeat an earlier one word for word" in why.verdict[1]
    assert "no change is compared with them" in why.verdict[1]
    assert ("greedy" in why.verdict[1]) == greedy
    assert not {"again", "hay=0"} & {*why.effects["change"]}


def test_a_few_alike_are_counted_and_named_and_greedy_decoding_needs_none():
    frame = frame_of(original="0" * 60, again="1" * 10 + "0" * 50, names="1" * 60)
    frame["said"] = [str(number) for number in range(60)] * 3
    half = frame.assign(said=frame["said"].mask(frame.index.isin(range(60, 90)), "other"))
    assert "10 are solved by a second attempt (30 of 60" in explain_failures(half).verdict[1]
    for sure in (
        frame,
        frame.assign(greedy=True, said=""),
        frame_of(original="0" * 60, names="1" * 60),
    ):
        assert {*explain_failures(sure).effects["against"]} == {"original"}
    why = explain_failures(frame.drop(columns="said").assign(greedy=True))
    assert "greedy: a second attempt would only repeat the first" in why.verdict[1]


@pytest.mark.parametrize("step", [True, False])
@pytest.mark.parametrize("again", [True, False])
def test_the_likelihood_is_that_of_attempts_given_what_makes_puzzles_differ(again, step):
    """By hand, for a puzzle that failed: sums over its hard needles, or over how much it slips."""
    columns = {"again": "1"} if again else {}
    frame = frame_of(original="0", needles="1", tail="0", from_51="1", only_7="0", **columns)
    trials = count_trials(with_loads(frame))
    hay, places, luck, alone, guess, more = 0.2, 0.3, 0.1, 0.05, 0.15, 0.25
    hard, harm, hit, spread = 0.6, 0.7, 0.8, 0.6
    slips, others = [hay, 0.05, places, luck], [alone, guess, more]
    parameters = np.array([*slips, hard, *others, harm, hit] if step else [*slips, *others, spread])
    kinds = [(0, np.exp(spread * x - spread**2 / 2), share)
             for x, share in ((-(3**0.5), 1 / 6), (0, 2 / 3), (3**0.5, 1 / 6))]  # fmt: skip
    if step:
        mean = hard / harm
        kinds = [(k, 1, np.exp(-mean) * mean**k / factorial(k)) for k in range(6)]

    def chance(k, z, needles, length, share):
        if length == 1:
            return np.exp(-alone * z) * (1 - harm * share) ** k
        slips = hay * (length - needles) / 75 + 0.05 * length / 100
        slips += places * length * (length + 1) / 10_100 + luck
        unharmed = np.exp(-slips * z) * (1 - harm * share) ** k
        return unharmed + (1 - unharmed) * (guess + more * (needles == length))

    likelihood, condition = 0, 0
    for k, z, prior in kinds:
        wrong = 1 - chance(k, z, 25, 100, 1)
        rest = chance(k, z, 25, 25, 1) * (1 - chance(k, z, 6, 25, 6 / 25))
        rest *= chance(k, z, 24, 49, 24 / 25) * (1 - chance(min(k, 1), z, 1, 1, hit))
        rest *= chance(k, z, 25, 100, 1) if again else 1
        likelihood, condition = likelihood + prior * wrong * rest, condition + prior * wrong
    value, slope = loss(parameters, trials, [0, 2, 3, 4], step)
    seen = likelihood / condition if again else likelihood
    assert value == pytest.approx(-np.log(seen))
    for place in range(len(parameters)):
        apart = 1e-6 * np.eye(len(parameters))[place]
        ends = [loss(parameters + sign * apart, trials, [0, 2, 3, 4], step)[0] for sign in (1, -1)]
        assert slope[place] == pytest.approx((ends[0] - ends[1]) / 2e-6, rel=1e-4, abs=1e-8)


def test_the_interval_of_a_share_ends_where_it_is_less_likely_by_half_of_chi_square():
    """At each end, the best likelihood by another search over all else."""
    model = STUDY["PLANTED"]["hay 3, luck 2"]
    trials = count_trials(STUDY["simulate"](model, 60, np.random.default_rng(3)))
    shares = share_slips(trials, ["distraction", "luck"]).set_index("cause")
    best = fit(trials, ["distraction", "luck"]).fun

    def cost(parts, share):
        slips = parts[0] * np.array([share, 1 - share])
        return loss(np.array([*slips, *parts[1:]]), trials, [0, 4], False)[0]

    bounds = [(0.1, 5), (0, 2), (0, 0.35), (0, 0.35), (0, 1.5)]
    for end in shares.loc["distraction", ["low", "high"]]:
        starts = ([0.7, 0.01, guess, guess, spread] for guess in (0.05, 0.3) for spread in (0.1, 1))
        found = min(minimize(cost, x, (end,), "L-BFGS-B", bounds=bounds).fun for x in starts)
        assert found - best == pytest.approx(1.92, abs=0.02)
    assert (shares["low"] <= shares["share"]).all()
    assert (shares["share"] <= shares["high"]).all()


def test_no_slips_of_some_kinds_are_near_by_the_quantile_of_a_mixture_of_chi_squares():
    """Each of n independent amounts is above zero in half of the samples without slips."""
    for n in (2, 3, 4):
        above = np.arange(1, n + 1)
        assert binom.pmf(above, n, 0.5) @ chi2.sf(2 * NEAR[n - 1], above) == pytest.approx(
            0.05, abs=3e-4
        )


def test_a_single_statement_that_is_not_too_hard_takes_nothing_from_the_share_of_a_step():
    """The first slip, which is tried alone, is often one on another needle."""
    model = STUDY["HELD_OUT"]["step and needles"]
    draws = map(np.random.default_rng, range(10))
    trials = (count_trials(STUDY["simulate"](model, 60, rng)) for rng in draws)
    shares = [
        share_slips(one, ["work", "length", "luck", "step"])["share"].iloc[-1] for one in trials
    ]
    assert np.mean(shares) == pytest.approx(model.causes["step"], abs=0.05)


@pytest.mark.parametrize(("changes", "shown"), [
    ({"again", "needles", "tail", "only"}, "distraction work length luck step"),
    ({"again", "needles", "tail"}, "distraction work length luck"),
    ({"again", "tail", "from"}, "length luck"), ({"again", "needles"}, "length luck"),
    ({"again", "reminder"}, "luck"),
    ({"needles", "from", "only"}, "distraction work length luck step"),
])  # fmt: skip
def test_only_causes_that_the_twins_can_show_are_compared(changes, shown):
    alone = {"only_3": "01"} if "only" in changes else {}
    frame = frame_of(original="01", **dict.fromkeys(changes - {"only"}, "11"), **alone)
    assert " ".join(show_causes(count_trials(with_loads(frame)))) == shown


@pytest.mark.parametrize("again", [{}, {"again": "01"}])
def test_a_step_is_too_hard_where_failures_fail_with_it_alone(again):
    for alone, shown in (("01", True), ("11", False), ("10", False)):
        frame = with_loads(frame_of(original="01", needles="11", only_3=alone, **again))
        assert ("step" in show_causes(count_trials(frame))) == shown


def test_effects_are_paired_over_the_puzzles_that_have_both():
    frame = frame_of(
        original="0000011", again="10-0011", needles="111-001", tail="0100011", only_7="1110011"
    )
    effects = explain_failures(frame).effects.set_index(["of", "change", "against"])
    row = effects.loc[(FAILED, "needles", "again")]  # in common: puzzles 0, 1 and 4
    assert (row["puzzles"], row["turned"]) == (3, 2)
    assert (row["share"], row["against_share"]) == pytest.approx((2 / 3, 1 / 3))
    assert row["difference"] == pytest.approx(1 / 3)
    assert row["low"] < row["difference"] < row["high"]
    assert effects.loc[(FAILED, "needles", "tail"), "puzzles"] == 4
    broken = effects.loc[(SOLVED, "needles", "again")]
    assert (broken["turned"], broken["share"], broken["against_share"]) == (1, 0.5, 0)
    assert effects.loc[(FAILED, "again", "original"), "turned"] == 1
    tested = effects.sort_index().loc[FAILED, "p_holm"].notna()
    assert not tested[["again", "only"]].any()
    assert tested[["needles", "tail"]].sum() == 2


def test_the_puzzles_that_a_change_cures_are_known_by_their_ids():
    why = explain_failures(frame_of(original="0000", again="0001", needles="1101", tail="1001"))
    assert why.cures["needles"] == ("p-0", "p-1", "p-3")


def test_without_again_the_failure_itself_is_the_reference():
    frame = frame_of(original="0" * 60, needles="1" * 60, tail="0" * 60)
    why = explain_failures(with_loads(frame))
    assert {*why.effects["against"]} == {"original", "tail"}
    assert why.causes == ("distraction",)
    assert "distraction" in why.verdict[0]
    assert "luck" in why.verdict[1]


@pytest.mark.parametrize("accuracy", [0.35, 0.8])
def test_without_again_what_a_guess_cures_is_no_cause(accuracy):
    """Of 12 guessers of fixed draws, whose twins are solved as often whatever became of them."""
    named, cured = 0, 0
    for run in range(12):
        draws = np.random.default_rng([run, 7])
        right = draws.random((4, 200)) < accuracy
        chosen = np.argsort(right[0], kind="stable")[[*range(30), *range(-30, 0)]]
        marks = np.full(right.shape, "-")
        marks[0] = right[0].astype(int)
        marks[1:, chosen] = right[1:, chosen].astype(int)
        columns = map("".join, marks)
        frame = frame_of(
            **dict(zip(("original", "needles", "tail", "from_5"), columns, strict=True))
        )
        why = explain_failures(frame)
        named += bool(why.causes)
        effects = why.effects[why.effects["of"] == FAILED].set_index("change")
        cured += effects.loc["from", "p_holm"] < 0.05
    assert named <= 2
    assert cured == 12  # so that the failure itself is no fair reference


def test_a_cause_takes_sixty_failures_and_comes_first_with_its_interval():
    """FACTOR's, whose causes are those of single changes."""
    columns = {"again": "0", "context_0": "1"}
    few, enough = (
        explain_failures(
            frame_of(original="0" * n, **{name: mark * n for name, mark in columns.items()})
        )
        for n in (59, 60)
    )
    assert few.causes == ()
    assert few.verdict[0].endswith("open: 59 failures were tried with a change, and 60 are needed.")
    assert enough.causes == ("context",)
    start = (
        "It fails because of the context around the task (+100 points, 95 % interval +88 to +100)."
    )
    assert enough.verdict[0] == start


def test_what_spoils_is_no_cause_and_where_another_change_cures_more_it_is_no_luck():
    tried = {"original": "0" * 60, "again": "1" * 30 + "0" * 30}
    for mark, causes in (("0", ("luck",)), ("1", ("words",))):
        frame = frame_of(**tried, names=mark * 60)
        assert explain_failures(frame).causes == causes
        assert explain_failures(with_loads(frame)).causes == causes


def test_the_same_verdict_whatever_the_order_and_further_attempts():
    frame = STUDY["simulate"](STUDY["PLANTED"]["hay"], 40, np.random.default_rng(1))
    mixed = pd.concat([frame.sample(frac=1, random_state=1)])
    later = frame.assign(correct=~frame["correct"])
    verdict = explain_failures(frame).verdict
    assert explain_failures(mixed).verdict == explain_failures(frame, later).verdict == verdict
    assert explain_failures(pd.concat([frame, later])).verdict == verdict  # its index repeats
    assert len(verdict) <= 4


def test_what_has_no_twins_is_refused():
    for frame in (frame_of(original="01"), frame_of(needles="01"), frame_of(original="1")):
        with pytest.raises(ValueError, match="no twins"):
            explain_failures(frame)
    frame = frame_of(original="01", needles="01")
    with pytest.raises(ValueError, match="one model"):
        explain_failures(frame.assign(model=["a", "a", "b", "b"]))


@pytest.mark.parametrize(("id", "change"), cases(__file__)["changes_of_ids"])
def test_numbers_of_a_puzzle_are_no_part_of_a_change(id, change):
    assert split_id(id) == ("c-1", change)


def test_a_model_of_few_words_does_not_repeat_itself():
    """All that is right has one text; what is wrong is another each time."""
    frame = frame_of(original="0001111111", again="0101111111")
    right = frame["correct"].astype(bool)
    frame["said"] = ["right" if one else f"wrong {n}" for n, one in enumerate(right)]
    assert count_repeats(frame, {"again": "original"}) == (7, 10, False)
    assert count_repeats(frame.assign(said="same"), {"again": "original"}) == (10, 10, True)
