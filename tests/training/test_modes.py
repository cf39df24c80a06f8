"""What each strategy counts in the loss, and what attends to what, in the trainer's batches."""

import re
from itertools import pairwise

import pytest
import torch
from datasets import Dataset
from experiments import STRATEGIES, Run, in_order, make_model, make_trainer, tokenized_texts
from tokenizer import END, make_tokenizer
from trl import SFTTrainer

from cogniload_dataset import load_dataset
from cogniload_gen.factor.solve import symbolic_relations

IGNORED = -100
PRETRAINING = ("Baseline", "Packed", "Masked", "Clean", "Diagonal")
PACKED = ("Packed", "Diagonal")


@pytest.fixture(scope="module", params=PRETRAINING)
def batch(request, micro, tmp_path_factory):
    """A strategy, its trainer, a batch as it arrives there, and where its whole texts stand."""
    name = request.param
    torch.manual_seed(0)
    run = Run(micro, tmp_path_factory.mktemp("run"), seed=0)
    rows = list(tokenized_texts(micro, STRATEGIES[name].split, 0))
    trainer = make_trainer(run, name, make_model(micro).eval(), Dataset.from_list(rows))
    (inputs, *_) = trainer.get_train_dataloader()
    return name, trainer, inputs, places(inputs["input_ids"].tolist(), rows)


def places(batch, rows):
    """Row, start, stop and length of the prompt of each whole text in a batch."""
    prompts = {tuple(row["input_ids"]): row["completion_mask"].count(0) for row in rows}
    end, found = make_tokenizer().eos_token_id, []
    for row, tokens in enumerate(batch):
        stops = [place + 1 for place, token in enumerate(tokens) if token == end]
        for start, stop in pairwise([0, *stops]):
            if tuple(tokens[start:stop]) in prompts:
                found.append((row, start, stop, prompts[tuple(tokens[start:stop])]))
    return found


def logits(model, inputs):
    """What a model predicts from a batch as the trainer gives it."""
    seen = {key: value for key, value in inputs.items() if key != "labels"}
    with torch.no_grad():
        return model(**seen, use_cache=False).logits


@pytest.mark.parametrize("compare", [False, True])
def test_a_text_is_a_puzzle_and_its_solution_under_other_names(micro, compare):
    limits = micro["puzzles"] | {"compare": compare}
    texts = list(tokenized_texts(micro | {"puzzles": limits}, "pretrain", 0))
    puzzles = load_dataset("factor", split="pretrain", seed=0, num_puzzles=2000)
    admitted = [
        row
        for row in puzzles
        if row["N"] <= limits["max_N"] and row["context"] <= limits["max_filler"]
    ]
    tokenizer, used = make_tokenizer(compare), set()
    for ours, row in zip(texts, admitted, strict=False):
        prompt = ours["completion_mask"].count(0)
        read = tokenizer.decode(ours["input_ids"][:prompt])
        solution = tokenizer.decode(ours["input_ids"][prompt:])
        names = sorted({*re.findall(r"\bv\d+", read)}, key=lambda name: int(name[1:]))
        used |= {*names}
        assert len(names) == row["N"]
        for number, name in enumerate(names):  # names that no text has, so that none is met twice
            read, solution = (re.sub(rf"\b{name}\b", f"x{number}", t) for t in (read, solution))
        *lines, conclusion = solution.replace("x", "v").split("\n")
        if compare:
            stated = [line.split(": ") for line in lines]
            lines = [line for line, _ in stated]
            for line, word in stated:
                assert word == ("yes" if line.endswith(f" = {row['target']}") else "no")
        assert read.replace("x", "v") == row["puzzle"].replace("x", "v") + "\n"
        assert "\n".join([*lines, conclusion]) == in_order(row["solution"]) + END
    assert used == {f"v{number}" for number in range(micro["test"]["max_N"])}


def test_the_next_line_is_the_lowest_variable_that_can_be_worked_out():
    for row in load_dataset("factor", split="pretrain", num_puzzles=100):
        *lines, conclusion = in_order(row["solution"]).split("\n")
        *given, same = row["solution"].split("\n")
        assert sorted(lines) == sorted(given)
        assert conclusion == same
        definitions, _ = symbolic_relations(row["puzzle"])
        known = []
        for line in lines:
            ready = [name for name, each in definitions.items() if {*each.terms} <= {*known}]
            known.append(min({*ready} - {*known}))
            assert line.startswith(f"v{known[-1]} = ")


def test_the_loss_counts_what_the_strategy_says(batch):
    name, _, inputs, found = batch
    assert len(found) > 2
    for row, start, stop, asked in found:
        tokens = inputs["input_ids"][row, start:stop].tolist()
        labels = inputs["labels"][row, start:stop].tolist()
        if name == "Masked":
            assert labels == [IGNORED] * asked + tokens[asked:]
        else:  # nothing predicts the first token of an isolated text
            assert labels[1:] == tokens[1:]
            assert labels[0] == (IGNORED if name == "Diagonal" else tokens[0])
    padding = inputs["input_ids"] == make_tokenizer().pad_token_id
    assert (inputs["labels"][padding] == IGNORED).all()
    assert name not in PACKED or not padding.any()


def test_the_loss_is_that_of_trl(batch):
    _, trainer, inputs, _ = batch
    parameters = list(trainer.model.parameters())
    counted = (inputs["labels"][:, 1:] != IGNORED).sum()
    found = []
    for kind in (type(trainer), SFTTrainer):
        loss = kind.compute_loss(trainer, trainer.model, {**inputs}, num_items_in_batch=counted)
        found.append([loss, *torch.autograd.grad(loss, parameters)])
    assert type(trainer) is not SFTTrainer
    for ours, theirs in zip(*found, strict=True):
        torch.testing.assert_close(ours, theirs)


def test_a_text_attends_to_another_only_where_packs_are_not_isolated(batch):
    name, trainer, inputs, found = batch
    (row, start, stop, _), (other_row, *other, _) = found[:2]
    assert (row == other_row) == (name in PACKED)
    changed = inputs | {"input_ids": inputs["input_ids"].clone()}
    changed["input_ids"][row, start : stop - 1] = make_tokenizer().convert_tokens_to_ids("▁cache")
    moved = (logits(trainer.model, inputs) - logits(trainer.model, changed)).abs()
    assert moved[row, start:stop].max() > 1e-3
    assert (moved[other_row, slice(*other)].max() > 1e-3) == (name == "Packed")
    assert name == "Packed" or moved[other_row, slice(*other)].max() < 1e-5
