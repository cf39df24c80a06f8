"""Rewards: right tracking pays step by step, tricks don't, hostile text does no harm."""

import re
from collections import Counter
from itertools import islice, pairwise

import pytest
import tokenizers
import transformers
from harness import random_state_put_back
from hypothesis import given, settings
from hypothesis import strategies as st
from limits import growth
from questions import CLAUSES
from source_tree import ROOT
from stored import cases

from cogniload_dataset import load_dataset
from cogniload_gen import generate_factor, generate_puzzles, read_steps, score_response
from cogniload_gen.cogniload.traces import clean_trace
from cogniload_gen.rewards import (
    TRACKING_INSTRUCTION,
    answer_reward,
    answer_score,
    step_reward,
    step_score,
)

STATES = {category: state for category, state, *_ in CLAUSES}
"""How a response may tell a value, written apart from the templates and the reader."""


def initial(puzzle):
    return puzzle["initial_state"][puzzle["people"].index(puzzle["poi"])]


def blind(puzzle):
    """The states of the PoI where every statement is applied to them, and where none is."""
    start, always = initial(puzzle), []
    state = dict(zip(puzzle["categories"], start, strict=True))
    for statement in puzzle["statements"]:
        state |= {update["category"]: update["value"] for update in statement["updates"]}
        always.append(list(state.values()))
    return always, [start] * puzzle["N"]


DRAWN = generate_puzzles([1, 3, 7, 12], [10, 30], [10, 50, 90], 2, trace=True).to_pylist()
PUZZLES = [puzzle for puzzle in DRAWN if puzzle["poi_states"] not in blind(puzzle)]
PUZZLE = generate_puzzles(3, 20, 50, 1, split="train", trace=True).to_pylist()[0]


def entry(puzzle, t, state, form="{t}. {poi} {clauses}."):
    """The line that tells the PoI's values after statement t."""
    pairs = zip(puzzle["categories"], state, strict=True)
    clauses = " and ".join(STATES[category].format(value) for category, value in pairs)
    return form.format(t=t, poi=puzzle["poi"], clauses=clauses)


def tracking(puzzle, states=None, **form):
    states = puzzle["poi_states"] if states is None else states
    return "\n".join(entry(puzzle, t, state, **form) for t, state in enumerate(states, 1))


def tracking_up_to(puzzle, last):
    """Right up to a statement; from then on one value is not the PoI's."""
    wrong = [
        [next(value for value in puzzle["domains"][0] if value != right), *others]
        for right, *others in puzzle["poi_states"]
    ]
    return tracking(puzzle, puzzle["poi_states"][:last] + wrong[last:])


@pytest.mark.parametrize("form", cases(__file__)["forms"])
def test_right_tracking_is_read_in_many_forms(form):
    for puzzle in PUZZLES:
        assert step_score(tracking(puzzle, form=form), puzzle) == 1


def test_telling_only_what_changes_is_enough():
    for puzzle in PUZZLES:
        lines = []
        for t, (before, after) in enumerate(pairwise([initial(puzzle), *puzzle["poi_states"]]), 1):
            values = zip(puzzle["categories"], before, after, strict=True)
            changed = [STATES[category].format(new) for category, old, new in values if old != new]
            lines.append(f"{t}. {puzzle['poi']} {' and '.join(changed) or 'stays the same'}.")
        assert step_score("\n".join(lines), puzzle) == 1


def test_the_instruction_asks_for_what_is_read():
    example = TRACKING_INSTRUCTION.split('"')[1]
    assert example == "3. Peter is wearing blue socks and is in the park."
    text = """Peter is wearing red socks and is in the bank.
        Mary is wearing pink socks and is in the zoo.
        1. The people located in the zoo put on green socks.
        2. The people wearing red socks put on red socks.
        3. The people located in the bank move to the park and put on blue socks.
        Where is Peter?"""
    puzzle = PUZZLE | {"puzzle": text}
    lines = ["1. Peter stays the same.", "2. Peter stays the same.", example]
    assert step_score("\n".join(lines), puzzle) == 1
    assert 0 < step_score("\n".join(lines[:2]), puzzle) <= 0.05  # as if it stood still


@pytest.mark.parametrize("puzzle", PUZZLES)
def test_more_right_steps_rank_higher(puzzle):
    N = puzzle["N"]
    scores = [step_score(tracking_up_to(puzzle, last), puzzle) for last in range(N + 1)]
    assert scores[0] == 0
    assert scores[N] == 1
    assert all(less < more for less, more in pairwise(scores))
    truncated = [step_score(tracking(puzzle, puzzle["poi_states"][:t]), puzzle) for t in (1, 9, 10)]
    assert truncated == [scores[t] for t in (1, 9, 10)]
    assert scores[N // 10] < scores[9 * N // 10] < 1


def lazy(puzzle):
    return "\n".join(f"{t}. {puzzle['poi']} stays the same." for t in range(1, puzzle["N"] + 1))


@pytest.mark.parametrize("rho", [5, 10, 25, 50, 75, 90, 95, 100])
@pytest.mark.parametrize("d", [1, 3])
def test_blind_strategies_earn_at_most_a_tenth(d, rho):
    for puzzle in generate_puzzles(d, 20, rho, 3, trace=True).to_pylist():
        always, never = blind(puzzle)
        for response in (tracking(puzzle, always), tracking(puzzle, never), lazy(puzzle)):
            assert step_score(response, puzzle) <= 0.1
        for copy in (puzzle["puzzle"], puzzle["puzzle"].replace("The people", puzzle["poi"])):
            assert step_score(copy, puzzle) <= 0.1
        right = step_score(tracking(puzzle), puzzle)
        assert right == 1 or puzzle["poi_states"] in (always, never)


@pytest.mark.parametrize("puzzle", PUZZLES)
def test_the_answer_reward_is_the_papers_accuracy_for_an_answer_that_does_not_hedge(puzzle):
    asked = {name: puzzle[name] for name in ("poi", "category", "options", "answer")}
    for value in puzzle["options"]:
        response = f"So it is.\n{puzzle['poi']} {STATES[puzzle['category']].format(value)}."
        correct = score_response(response, **asked).correct
        assert answer_score(response, puzzle) == correct == (value == puzzle["answer"])


def test_a_value_within_the_answers_spelling_is_no_other_option():
    camp = {"poi": "Ali", "category": "location", "options": ["camp", "campground"]}
    assert answer_score("Ali is in the campground.", camp | {"answer": "campground"}) == 1
    books = {"poi": "Ali", "category": "recent_read", "answer": "sci-fi"}
    books |= {"options": ["sci-fi", "fiction", "non-fiction"]}
    assert answer_score("Ali last read sci-fi (science-fiction).", books) == 1
    assert answer_score("Ali last read non-fiction, fiction.", books | {"answer": "fiction"}) == 0
    music = {"poi": "Ali", "category": "recent_listen", "options": ["reagea", "rap"]}
    assert answer_score("Ali last listened to reggae music.", music | {"answer": "reagea"}) == 1
    assert answer_score("Ali last listened to rap, no, reggae.", music | {"answer": "reagea"}) == 0


def test_a_completion_without_text_of_the_model_earns_nothing_and_a_missing_column_is_named():
    row = {name: [value] for name, value in PUZZLE.items()}
    tool = [{"role": "tool", "content": tracking(PUZZLE)}, {"role": "assistant", "content": "."}]
    for silent in (None, [], [{"role": "assistant", "content": None}], tool):
        assert answer_reward(completions=[silent], **row) == [0.0]
        assert step_reward(completions=[silent], **row) == [0.0]
    del row["puzzle"]
    with pytest.raises(ValueError, match="a row needs the column puzzle of the puzzles"):
        step_reward(completions=["?"], **row)


FACTOR = [
    *generate_factor("symbolic", N=[1, 6, 39], num_puzzles=4).to_pylist(),
    *generate_factor("realistic", op=[2, 9, 20], num_puzzles=4).to_pylist(),
]


def solution_steps(puzzle):
    """The solution in its steps, and what comes last."""
    end = "\n" if puzzle["suite"] == "symbolic" else ". "
    *steps, last = puzzle["solution"].split(end)
    return [step + end for step in steps], last


def is_blind(puzzle):
    """Whether all of a solution's values are given in the puzzle, or all are the same."""
    steps, _ = solution_steps(puzzle)
    values = {step.rpartition(" = ")[2].strip(" .\n") for step in steps}
    return len(values) == 1 or all(step.count("=") == 1 for step in steps)


@pytest.mark.parametrize("puzzle", FACTOR)
def test_factors_solution_is_paid_step_by_step(puzzle):
    steps, last = solution_steps(puzzle)
    rewards = [step_score("".join(steps[:count]), puzzle) for count in range(len(steps) + 1)]
    assert rewards[0] == 0
    assert all(less < more for less, more in pairwise(rewards))
    assert rewards[-1] == (0.05 if is_blind(puzzle) else 1)
    wrong = re.sub(r"= \d+(?=[.\n])", "= 777", steps[0])
    assert wrong != steps[0]
    assert step_score(wrong + "".join(steps[1:]), puzzle) == 0
    assert step_score("".join([*steps, *steps]), puzzle) == rewards[-1]
    together = wrong.rstrip(".\n") + ", "
    for told in ([*steps, wrong], [wrong, *steps], [together, *steps]):  # two values are none
        assert step_score("".join(told), puzzle) == 0
    assert step_score(puzzle["puzzle"].partition("\n\n")[0], puzzle) == 0
    assert answer_score(puzzle["solution"], puzzle) == 1
    wrong = re.sub(r"v?\d+\.$", lambda found: f"{found[0][:-1]}9.", last)
    assert answer_score("".join(steps) + wrong, puzzle) == (wrong == last)  # "No variable ..."


def test_factors_steps_count_in_any_order_and_other_words():
    puzzle = {
        "suite": "symbolic", "target": 2, "answer": "v1",
        "solution": "v0 = 3\nv1 = v0 - 1 = 3 - 1 = 2\nThe variable equal to 2 is v1.",
    }  # fmt: skip
    assert step_score("- So **v1** = v0 - 1 = 2\n- First, v0 = 3.", puzzle) == 1
    assert step_score("We have v0 = 3, v1 = v0 - 1.", puzzle) == 0.05  # as if it copied
    puzzle = {
        "suite": "realistic", "answer": "4",
        "solution": "Define South Zoo's Fox as d; so d = 2. "
        "Define South Zoo's Animal as M; so M = d + 2 = 4. Answer: 4.",
    }  # fmt: skip
    assert step_score("South Zoo's Animal = 2 + 2 = 4. South Zoo's Fox = 2.", puzzle) == 1
    assert step_score("Define South Zoo's Fox as x. Then x = 2.", puzzle) == 0.05


WORDS = [*PUZZLE["puzzle"].split(), *PUZZLE["options"], "٣.", "hat:", "v1", "=", "\n"]


@settings(max_examples=100)
@given(
    st.text() | st.lists(st.sampled_from(WORDS), max_size=80).map(" ".join),
    st.sampled_from([PUZZLE, *FACTOR]),
)
def test_no_text_does_harm(response, puzzle):
    assert answer_score(response, puzzle) in (0, 1)
    assert 0 <= step_score(response, puzzle) <= 1


HACKS = cases(ROOT / "tests/factor/data", "reward_hacks.toml")


@pytest.mark.parametrize(("before", "after"), HACKS["each"])
def test_factors_steps_that_are_denied_or_doubted_earn_nothing(before, after):
    for puzzle in FACTOR:
        lines = []
        for step in (step.rstrip("\n. ") for step in solution_steps(puzzle)[0]):
            line = before + step.replace("; so ", f"; {before}")
            lines.append(line + after.format(value=step.rpartition(" = ")[2]) + ".")
        assert step_score("\n".join(lines), puzzle) == 0


@pytest.mark.parametrize("denial", HACKS["whole"])
def test_factors_solution_that_is_taken_back_as_a_whole_earns_nothing(denial):
    for puzzle in FACTOR:
        steps = "".join(solution_steps(puzzle)[0])
        assert step_score(f"{steps}\n{denial}", puzzle) == 0
        assert step_score(f"{denial}\n{steps}", puzzle) == 0


@pytest.fixture(scope="module")
def tiny():
    """A random model of letters, and its tokenizer."""
    special = {"pad_token": "<pad>", "eos_token": "<eos>", "unk_token": "<unk>"}
    letters = [*special.values(), "\n", *map(chr, range(32, 127))]
    numbers = {letter: i for i, letter in enumerate(letters)}
    splitter = tokenizers.Tokenizer(tokenizers.models.WordLevel(numbers, special["unk_token"]))
    splitter.pre_tokenizer = tokenizers.pre_tokenizers.Split("", "isolated")
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=splitter, **special)
    tokenizer.chat_template = "{% for message in messages %}{{ message['content'] }}{% endfor %}"
    shape = transformers.LlamaConfig(
        vocab_size=len(letters), hidden_size=16, intermediate_size=16, num_hidden_layers=1,
        num_attention_heads=2, pad_token_id=0, bos_token_id=1, eos_token_id=1,
    )  # fmt: skip
    return {"model": transformers.LlamaForCausalLM(shape), "processing_class": tokenizer}


def stream(traces):
    grid = {"num_puzzles": None, "d": 1, "N": 2, "rho": 50, "traces": traces}
    return load_dataset("cogniload", split="train", streaming=True, **grid)


SHORT = {"max_steps": 2, "use_cpu": True, "bf16": False, "report_to": [], "logging_steps": 1}
SHORT |= {"save_strategy": "no", "disable_tqdm": True, "per_device_train_batch_size": 4}


@pytest.mark.slow
@pytest.mark.parametrize("form", [True, "plain"])
def test_trl_imitates_the_traces_of_an_endless_stream(tiny, tmp_path, form):
    """Two steps of its SFTTrainer, which takes the rows as they are."""
    import trl

    with random_state_put_back():
        args = trl.SFTConfig(output_dir=str(tmp_path), **SHORT)
        trainer = trl.SFTTrainer(**tiny, train_dataset=stream(form), args=args)
        trainer.train()
    told = trainer.state.log_history[0]
    assert told["loss"] > 0
    assert told["num_tokens"] > sum(len(row["puzzle"]) for row in islice(stream(form), 4))


@pytest.mark.slow
def test_trl_trains_on_an_endless_stream_with_both_rewards(tiny, tmp_path):
    """Two steps of its GRPOTrainer, which takes the rows as they are; it finds all columns."""
    import trl

    ids = []

    def gold_reward(completions, **columns):
        """What the traces would be paid, from what TRL hands over."""
        ids.extend(columns["id"])
        return answer_reward([*map(clean_trace, columns["puzzle"])], **columns)

    with random_state_put_back():  # the trainer seeds it
        args = trl.GRPOConfig(
            output_dir=str(tmp_path), num_generations=2, max_completion_length=12, **SHORT
        )
        trainer = trl.GRPOTrainer(
            **tiny,
            reward_funcs=[answer_reward, step_reward, gold_reward],
            train_dataset=stream(True),
            args=args,
        )
        trainer.train()
    assert trainer.state.log_history[0]["rewards/gold_reward/mean"] == 1
    assert {*Counter(ids).values()} == {2}  # a group of two responses each
    assert all(id_.startswith("cogniload-v1-train-s42-d1-N2-rho50-") for id_ in ids)


def test_clean_traces_are_read_and_paid_in_full():
    """Except for what a blind strategy reaches too, which no response is paid more for."""
    for puzzle in DRAWN:
        trace = clean_trace(puzzle["puzzle"])
        steps = read_steps(trace, puzzle)
        assert (steps.read, steps.error, steps.coverage) == (True, None, 1)
        assert answer_score(trace, puzzle) == 1
        assert step_score(trace, puzzle) == (1 if puzzle in PUZZLES else pytest.approx(0.05))


MARKS = ["<|im_end|>", "</s>", "<|eot_id|>", "<|endoftext|>", "<end_of_turn>", "<eos>"]


@pytest.mark.parametrize("mark", [*MARKS, "<｜end▁of▁sentence｜>", " <|im_end|>\n<|endoftext|>"])
def test_an_end_marker_costs_nothing(mark):
    trace = clean_trace(PUZZLE["puzzle"])
    assert answer_score(trace + mark, PUZZLE) == step_score(trace + mark, PUZZLE) == 1
    for row in generate_factor("symbolic", N=4, num_puzzles=1).to_pylist():
        said = f"{row['solution']}\nThe answer is {row['answer']}."
        assert answer_score(said + mark, row) == 1
        assert step_score(said + mark, row) == step_score(said, row) > 0


def test_many_end_markers_take_no_longer_than_their_length():
    assert growth(lambda text: answer_score(text, PUZZLE), "</s>", 200_000) < 8


@pytest.mark.parametrize("reward", [answer_reward, step_reward])
def test_rows_of_another_task_have_no_reward(reward):
    """As TRL asks for: their columns of ours are all None."""
    others = {name: [None, value] for name, value in PUZZLE.items()}
    columns = others | {"prompt": ["2 + 2?", PUZZLE["puzzle"]], "solution": ["4", None]}
    columns |= {"trainer_state": None, "log_metric": print}
    assert reward(["4", clean_trace(PUZZLE["puzzle"])], **columns) == [None, 1]
    with pytest.raises(ValueError, match="puzzle"):
        reward(["4"], prompt=["2 + 2?"], solution=["4"])
