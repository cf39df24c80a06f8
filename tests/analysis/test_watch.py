"""The nights of a watch: how rarely it alarms of nothing, and how soon of a loss."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogniload_analysis.compare.watch import dead_zone, watch

NAN = np.nan


class Served:
    """A model and its pool: unequal puzzles, of which a tenth flips between two answers."""

    def __init__(self, seed, puzzles=2000, attempts=8):
        self.draws = np.random.default_rng(seed)
        self.chances = self.draws.beta(0.16, 0.105, puzzles)
        self.recorded = self.draws.binomial(attempts, self.chances) / attempts
        self.least = dead_zone(self.recorded, attempts)

    def night(self, count=300, loss=0.0, missing=0):
        """A night: what the base was recorded to solve, and what is solved now."""
        which = self.draws.choice(len(self.chances), count, replace=False)
        chances = self.chances[which] * (1 - loss / self.chances.mean())
        pairs = np.stack([self.recorded[which], self.draws.random(count) < chances], axis=1)
        pairs[:missing, 1] = NAN
        return pairs

    def first_alarm(self, nights, **night):
        """The night of the alarm; one more than there are without one."""
        asked = [self.night(**night) for _ in range(nights)]
        found = watch(asked, self.least)
        return found.nights if found.verdict == "worse" else nights + 1


@pytest.mark.parametrize(("count", "nights"), [(300, 8), (100, 16)])
def test_a_loss_of_three_points_is_found_in_a_few_nights(count, nights):
    found = [Served(seed).first_alarm(60, count=count, loss=0.03) for seed in range(60)]
    assert np.median(found) <= nights


def test_the_same_model_seldom_alarms():
    alarms = [Served(seed).first_alarm(500, count=100) for seed in range(30)]
    # one alarm in 1,000 nights at most: in 15,000 nights 15, and three standard errors
    assert sum(night <= 500 for night in alarms) <= 15 + 12
    assert sum(night <= 500 for night in alarms) <= 3  # most pools are no worse than their base


@pytest.mark.parametrize("attempts", [1, 4, 8])
def test_the_dead_zone_holds_the_error_of_39_pools_of_40(attempts):
    beyond = 0
    for seed in range(1000):
        served = Served(seed, 300, attempts)
        beyond += served.recorded.mean() - served.chances.mean() > served.least
    assert beyond <= 25 + 15
    if attempts > 1:  # which tell how much of a share is luck
        assert beyond > 0
        assert served.least < dead_zone(served.recorded.round(), 1)


def test_missing_answers_make_no_alarm_and_no_pass():
    served = Served(1)
    healthy = [served.night() for _ in range(3)]
    found = watch([*healthy, served.night(missing=3)], served.least)
    assert (found.verdict, found.exit_code) == ("no alarm", 0)
    assert found.notes[0].startswith("not answered: 3 of ")
    gone = watch([*healthy, served.night(missing=200)], served.least)
    assert (gone.verdict, gone.exit_code) == ("undecided", 3)
    assert "if what is missing is wrong, it is worse" in gone.lines[3]
    long_gone = 20 * [served.night(missing=200)]
    assert watch(long_gone, served.least).exit_code == 3
    mended = [*long_gone, *(served.night() for _ in range(3))]
    assert watch(mended, served.least).verdict == "no alarm"
    silent = watch([served.night(missing=300)], served.least)
    assert silent.verdict == "undecided"


def test_an_outage_of_a_part_of_a_night_does_not_count():
    served = Served(2)
    nights = [served.night() for _ in range(4)]
    nights[3][:100, 1] = 0
    assert watch(nights, served.least).verdict == "worse"
    for last, verdict in ((0, "undecided"), (1, "no alarm")):
        asked = [*nights, *[served.night() for _ in range(last)]]
        found = watch(asked, served.least, ["", "", "", "it changed"])
        assert found.verdict == verdict
    assert (
        "doesn't count, as it changed"
        in watch(nights, served.least, [*3 * [""], "it changed"]).lines[3]
    )


def test_the_night_of_the_loss_is_named_and_nights_after_the_alarm_change_nothing():
    began = []
    for seed in range(20):
        served = Served(seed)
        nights = [served.night(loss=0.1 * (night >= 20)) for night in range(40)]
        found = watch(nights, served.least)
        since = f"verdict     worse, about since night {found.began} of {found.nights}: "
        assert found.lines[0].startswith(since)
        later = watch(nights, served.least, first=11)
        assert (later.began, later.nights) == (found.began + 10, found.nights)
        assert watch(nights[: found.nights], served.least) == found
        assert 0.03 < found.base - found.new < 0.17
        began.append(found.began)
    assert sum(19 <= night <= 23 for night in began) >= 18


SHARES = st.sampled_from([0, 0.25, 0.5, 1])
NIGHT = st.lists(st.tuples(SHARES, st.sampled_from([0, 1])), min_size=1, max_size=40)
NIGHTS = st.lists(NIGHT, min_size=1, max_size=5)


@given(NIGHTS, st.floats(0.001, 0.05), st.randoms(use_true_random=False))
def test_evidence_falls_with_what_is_solved_and_ignores_order(nights, least, random):
    found = watch(nights, least)
    shuffled = [random.sample(night, len(night)) for night in nights]
    assert watch(shuffled, least).evidence == pytest.approx(found.evidence)
    solved = [*nights[:-1], [(base, 1) for base, _ in nights[-1]]]
    best = watch(solved, least)
    assert (
        best.verdict == "no alarm" or found.nights < len(nights) or best.evidence <= found.evidence
    )


def test_what_is_no_night_is_refused():
    for wrong in ([], [[(2, 1)]], [[]]):
        with pytest.raises(ValueError, match="a watch takes nights of puzzles"):
            watch(wrong, 0.01)
