"""Train a small model from nothing to solve CogniLoad's puzzles of d = 1 by tracking the PoI.

A text is a puzzle and its trace, in the entries of entries.py:

    Ann a  Bob b  1. c u  2. c u  ...  Ann  |  Ann a  1. c u Ann s  2. c u Ann s  ...  Ann s  <eos>

Two things are learnt one after the other. First recall: which value stands behind a name, from
pairs of any entries. Then puzzles, whose N grows as they are solved: half of them and more are made
up of any names, numbers and values, with more changes than CogniLoad's have.
"""

import argparse
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
import yaml
from entries import END, ENTRIES, NAMES, NUMBERS, PAD, VALUES, make_tokenizer, trace
from torch.nn.functional import cross_entropy
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from cogniload_gen import generate_puzzles
from cogniload_gen.files import whole_file, whole_folder

SETTINGS = yaml.safe_load(Path(__file__).with_name("settings.yaml").read_text("utf-8"))
LESSONS = SETTINGS["lessons"]

LIMITS = {"few": 0.3, "recall": 0.1, "puzzles": 0.2}
"""The losses below which recall is learnt, first among few entries, and below which N grows."""

FEW = 20
"""The keys and values of most lessons in recall at first: among few, it appears sooner."""

RATES = {"recall": (1e-3, 1e-4), "puzzles": (5e-3, 5e-4)}
"""The rates of Muon and AdamW: at 0.03 and 3e-3, recall stayed at chance."""


WEIGHT = 3.0
"""What the loss of an entry in a trace counts, beside that of a name and of the last sentence."""


class Lesson(NamedTuple):
    """Texts of one length as entries, and the weight of each entry in the loss (0: not learnt)."""

    ids: np.ndarray
    weights: np.ndarray


# --- Lessons ---------------------------------------------------------------------------------


def recall_lesson(count: int, few: int | None, rng: np.random.Generator) -> Lesson:
    """Return lists of pairs of a key and a value, each followed by its pairs in another order."""
    keys = np.array([ENTRIES[entry] for entry in [*NAMES, *NUMBERS]][:few])
    values = np.array([ENTRIES[entry] for entry in VALUES][:few])
    size = int(rng.integers(2, 9))
    key, value = draw(keys, count, size, rng), rng.choice(values, (count, size))
    again = [np.argsort(rng.random((count, size)), 1) for _ in range(2)]
    orders = np.concatenate([np.broadcast_to(np.arange(size), (count, size)), *again], 1)
    pairs = [np.take_along_axis(part, orders, 1) for part in (key, value)]
    ids = np.stack(pairs, 2).reshape(count, -1)
    weights = np.zeros(ids.shape[1])
    weights[2 * size + 1 :: 2] = 1
    return Lesson(ids, weights)


def draw(entries: np.ndarray, count: int, size: int, rng: np.random.Generator) -> np.ndarray:
    """Return `count` draws of `size` different entries each."""
    return entries[np.argsort(rng.random((count, len(entries))), 1)[:, :size]]


def made_up_lesson(count: int, N: int, rng: np.random.Generator) -> Lesson:
    """Return puzzles of any names and values, half of whose statements are about the PoI.

    They begin at any number, so that statements are found by their numbers, not counted.
    """
    names = draw(np.array([ENTRIES[entry] for entry in NAMES]), count, 2, rng)
    values = draw(np.array([ENTRIES[entry] for entry in VALUES]), count, 3, rng)
    each, poi = np.arange(count), rng.integers(2, size=count)
    now, name = poi, names[each, poi]
    puzzle = [names[:, 0], values[:, 0], names[:, 1], values[:, 1]]
    answer = [name, values[each, now]]
    first = rng.integers(len(NUMBERS) - N + 1)
    for number in NUMBERS[first : first + N]:
        condition = np.where(rng.random(count) < 0.5, now, (now + rng.integers(1, 3, count)) % 3)
        update = rng.integers(3, size=count)
        now = np.where(condition == now, update, now)
        t = np.full(count, ENTRIES[number])
        statement = [t, values[each, condition], values[each, update]]
        puzzle += statement
        answer += [*statement, name, values[each, now]]
    answer += [name, values[each, now], np.full(count, ENTRIES[END])]
    return Lesson(np.stack([*puzzle, name, *answer], 1), trace_weights(N))


def puzzle_lesson(
    count: int, N: int, seed: int, step: int, tokenizer: PreTrainedTokenizerFast
) -> Lesson:
    """Return puzzles of the train split with their traces; no two steps have the same."""
    made = {"d": [1], "N": [N], "rho": [25, 50, 75], "split": "train", "trace": True}
    each = -(-count // 3)
    rows = generate_puzzles(**made, num_puzzles=each, seed=seed, first_index=step * 1000)
    texts = rows.to_pylist()
    puzzles = tokenizer([row["puzzle"] for row in texts])["input_ids"]
    traces = [[ENTRIES[entry] for entry in trace(row)] for row in texts]
    return Lesson(np.concatenate([puzzles, traces], 1), trace_weights(N))


def trace_weights(N: int) -> np.ndarray:
    """Return the weights in a puzzle of N statements with its trace."""
    steps = [WEIGHT, WEIGHT, WEIGHT, 1, WEIGHT] * N
    return np.array([0] * (3 * N + 5) + [1, WEIGHT, *steps, WEIGHT, 1, 1])


# --- Training --------------------------------------------------------------------------------


def make_model(seed: int) -> LlamaForCausalLM:
    """Return a new model."""
    entries = {"vocab_size": len(ENTRIES), "pad_token_id": ENTRIES[PAD]}
    torch.manual_seed(seed)
    return LlamaForCausalLM(LlamaConfig(**entries, eos_token_id=ENTRIES[END], **SETTINGS["model"]))


class Training:
    """A model on its way, which continues from its last checkpoint."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options, self.tokenizer = options, make_tokenizer()
        self.model = make_model(options.seed)
        embedded = self.model.model.embed_tokens.weight
        inner = [p for p in self.model.parameters() if p.ndim == 2 and p is not embedded]
        other = [p for p in self.model.parameters() if p.ndim == 1 or p is embedded]
        self.optimizers = [
            torch.optim.Muon(inner, weight_decay=0.0),
            torch.optim.AdamW(other, weight_decay=0.0, betas=(0.9, 0.95)),
        ]
        self.parts: list[Any] = [self.model, *self.optimizers]  # whose state a checkpoint keeps
        self.state: dict[str, Any] = {"step": 0, "few": True, "recalled": None, "N": 3, "tokens": 0}
        self.losses: dict[str, list[float]] = {"few": [], "recall": [], "puzzles": []}
        self.checkpoint = options.out / "checkpoint.pt"
        if self.checkpoint.exists():
            kept = torch.load(self.checkpoint)
            self.state, self.losses = kept["state"], kept["losses"]
            for part, saved in zip(self.parts, kept["parts"], strict=True):
                part.load_state_dict(saved)

    def run(self) -> None:
        """Train to the end, saving the model half way through the puzzles, and at the end."""
        while (done := self.puzzle_steps()) < self.options.steps:
            if done == self.options.steps // 2:
                self.save("half")
            self.step(done)
            if self.state["step"] % 200 == 0:
                self.report()
                parts = [part.state_dict() for part in self.parts]
                with whole_file(self.checkpoint, force=True) as new:
                    torch.save({"state": self.state, "losses": self.losses, "parts": parts}, new)
        self.save("final")

    def puzzle_steps(self) -> int:
        """Return how many steps have been taken since recall was learnt."""
        recalled: int | None = self.state["recalled"]
        return 0 if recalled is None else self.state["step"] - recalled

    def step(self, done: int) -> None:
        """Learn one lesson, at a rate that rises at first and falls over the last 40 %.

        With `gap`, places are skipped before a trace, so that a statement's distance from its line
        says nothing. The mask keeps the model from taking what follows for another text.
        """
        rng = np.random.default_rng([self.options.seed, self.state["step"]])
        kind, lesson = self.lesson(rng)
        rates = RATES["recall" if self.state["recalled"] is None else "puzzles"]
        factor = min(1, (done + 1) / 50, 2.5 * (1 - done / self.options.steps))
        for optimizer, rate in zip(self.optimizers, rates, strict=True):
            optimizer.param_groups[0]["lr"] = rate * (factor if done else 1)
        ids, weights = torch.from_numpy(lesson.ids), torch.from_numpy(lesson.weights).float()
        learnt = weights[1:].nonzero()[:, 0]
        places = torch.arange(ids.shape[1] - 1).repeat(len(ids), 1)
        if kind == "puzzles":
            gaps = rng.integers(LESSONS["gap"] + 1, size=(len(ids), 1))
            places[:, learnt[0] + 1 :] += torch.from_numpy(gaps)
        seen = torch.ones_like(places)
        inputs = {"input_ids": ids[:, :-1], "position_ids": places, "attention_mask": seen}
        hidden = self.model.model(**inputs, use_cache=False).last_hidden_state[:, learnt]
        logits = self.model.lm_head(hidden).transpose(1, 2)
        losses = cross_entropy(logits, ids[:, 1 + learnt], reduction="none").mean(0)
        share = weights[1 + learnt] / weights.sum()
        (losses * share).sum().backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        for optimizer in self.optimizers:
            optimizer.step()
            optimizer.zero_grad()
        values = weights[1 + learnt] == weights.max()
        self.losses[kind] = [*self.losses[kind][-99:], losses[values].mean().item()]
        self.state["tokens"] += ids.numel()
        self.state["step"] += 1
        self.move_on()

    def lesson(self, rng: np.random.Generator) -> tuple[str, Lesson]:
        """Return the next lesson, and where its loss is kept."""
        recalled, N = self.state["recalled"] is not None, self.state["N"]
        if rng.random() < (0.1 if recalled else 1.0):
            if self.state["few"] and rng.random() < 0.6:
                return "few", recall_lesson(30, FEW, rng)
            return "recall", recall_lesson(30, None, rng)
        lengths = [N, rng.integers(1, N + 1), rng.integers(1, 4), rng.integers(N, 2 * N + 1)]
        long = 0.1 if N == LESSONS["most"] else 0.0
        n = int(rng.choice(lengths, p=(0.5 - long, 0.4, 0.1, long)))
        count = max(6, LESSONS["tokens"] // (8 * n + 8))
        if rng.random() < LESSONS["made_up"]:
            return "puzzles", made_up_lesson(count, n, rng)
        seed, step = self.options.seed, self.state["step"]
        return "puzzles", puzzle_lesson(count, n, seed, step, self.tokenizer)

    def move_on(self) -> None:
        """Go on to puzzles once recall is learnt, and to a higher N once puzzles are solved."""
        learnt = {
            kind: len(kept) == 100 and np.mean(kept) < LIMITS[kind]
            for kind, kept in self.losses.items()
        }
        if learnt["few"]:
            self.state["few"] = False
        if learnt["recall"] and self.state["recalled"] is None:
            self.state["recalled"] = self.state["step"]
        if learnt["puzzles"]:
            self.state["N"] = min(LESSONS["most"], self.state["N"] * 3 // 2)
            self.losses["puzzles"].clear()

    def report(self) -> None:
        """Print how far the training is."""
        means = [f"{kind} {np.mean(kept):.3f}" for kind, kept in self.losses.items() if kept]
        reached = "step {step}, {tokens:,} tokens, N {N}:".format(**self.state)
        print(reached, *means, flush=True)

    def save(self, name: str) -> None:
        """Save the model in float16, with its tokenizer, unless it is there."""
        if not (self.options.out / name).exists():
            with whole_folder(self.options.out / name) as new:
                model = LlamaForCausalLM(self.model.config)
                model.load_state_dict(self.model.state_dict())
                model.half().save_pretrained(new)
                self.tokenizer.save_pretrained(new)


def main() -> None:
    """Train a model."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("out", type=Path, help="folder of the checkpoint and of both models")
    parser.add_argument("--seed", type=int, default=0, help="of the weights and lessons (0)")
    parser.add_argument("--steps", type=int, default=5000, help="lessons once recall is learnt")
    options = parser.parse_args()
    torch.set_num_threads(1)
    options.out.mkdir(parents=True, exist_ok=True)
    Training(options).run()


if __name__ == "__main__":
    main()
