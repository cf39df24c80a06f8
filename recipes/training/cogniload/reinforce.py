"""Reinforce a model by GRPO on puzzles of the train split, paid for its answers and its steps.

The puzzles are an even mix of all loads, those of a file that `cogniload generate FILE --for RUN
--traces` wrote, or a frontier that follows the model. With --credit, the advantage of a token is
that of the statement it is about.
"""

import argparse
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

import datasets
import torch
import yaml
from datasets import IterableDataset
from transformers import AutoModelForCausalLM, AutoTokenizer, TrainerCallback
from trl import GRPOConfig, GRPOTrainer

from cogniload_dataset import load_dataset
from cogniload_gen import Frontier, credit_spans
from cogniload_gen.rewards import answer_reward, step_reward, told

Row = dict[str, Any]
Place = tuple[int, int, float]
"""Where a statement stands in a response, and its advantage."""

FEW = 2
"""How many responses the batch counts for, beside those of a group."""


class Rewards:
    """The mean of both rewards, which the frontier is told, and what each token is credited."""

    __name__ = "reward"

    def __init__(self, frontier: Frontier | None, tokenizer: Any, credit: bool) -> None:
        self.frontier, self.tokenizer, self.credit = frontier, tokenizer, credit
        self.advantages: dict[tuple[int, ...], list[float]] = {}

    def __call__(
        self, completions: list[Any], completion_ids: list[list[int]], **columns: Any
    ) -> list[float]:
        """Return the rewards of responses, as TRL's trainer asks for them."""
        answers, steps = answer_reward(completions, **columns), step_reward(completions, **columns)
        rewards = [(answer + step) / 2 for answer, step in zip(answers, steps, strict=True)]
        groups: dict[str, list[int]] = defaultdict(list)
        for place, puzzle in enumerate(columns["id"]):
            groups[puzzle].append(place)
        mixed = fmean(len({answers[place] for place in group}) > 1 for group in groups.values())
        columns["log_metric"]("mixed", mixed)
        columns["log_metric"]("N", fmean(columns["N"]))
        if self.frontier:
            self.frontier.observe(columns["id"], rewards)
        self.advantages.clear()
        if self.credit:
            ended = [answer == 1 and step > 0 for answer, step in zip(answers, steps, strict=True)]
            self.judge(completions, completion_ids, columns, ended, [*groups.values()])
        return rewards

    def judge(
        self,
        completions: list[Any],
        completion_ids: list[list[int]],
        columns: Mapping[str, Any],
        ended: Sequence[bool],
        groups: Sequence[Sequence[int]],
    ) -> None:
        """Keep the advantage of each token: that of its statement, up to the first wrong one.

        It is 1 if the statement is right and 0 if it is wrong, less the share of the group's
        responses that are right there, of those that were right so far. The share of the whole
        batch counts as FEW responses more, so that a group that is wrong throughout learns too.
        """
        texts = [told(completion)[0] for completion in completions]
        places = []
        for number, (text, right) in enumerate(zip(texts, ended, strict=True)):
            row = {name: columns[name][number] for name in ("id", "puzzle", "N")}
            places.append(judged(row, text, right))
        usual = fmean(right for mine in places for right, *_ in mine.values())
        for group in groups:
            for number in group:
                mine = []
                for t, (right, start, end) in places[number].items():
                    beside = [places[other][t][0] for other in group if t in places[other]]
                    share = (sum(beside) + FEW * usual) / (len(beside) + FEW)
                    mine.append((start, end, right - share))
                ids = completion_ids[number]
                self.advantages[tuple(ids)] = self.to_tokens(texts[number], mine, len(ids))

    def to_tokens(self, text: str, places: Sequence[Place], count: int) -> list[float]:
        """Return the advantage of each of a response's tokens, of which the last ends it."""
        offsets = self.tokenizer(text, return_offsets_mapping=True)["offset_mapping"]
        starts = [start for start, _ in offsets[:count]]
        starts += [len(text)] * (count - len(starts))
        return [sum(a for begin, end, a in places if begin <= at < end) for at in starts]


def judged(row: Row, text: str, solved: bool) -> dict[int, tuple[bool, int, int]]:
    """Return whether a response is right at each statement up to its first error, and where.

    The end of a response counts as a statement: it is right if the answer is.
    """
    places, spans = dict[int, tuple[bool, int, int]](), credit_spans(text, row)
    for span in spans:
        places[span.statement] = span.right, span.start, span.end
        if not span.right:
            return places
    last = max((span.end for span in spans), default=0)
    places[row["N"] + 1 if spans else 0] = solved and bool(spans), last, len(text) + 1
    return places


class Trainer(GRPOTrainer):
    """TRL's trainer, with an advantage for each token where `rewards` has one."""

    rewards: Rewards

    def compute_loss(self, model: Any, inputs: dict[str, Any], *args: Any, **more: Any) -> Any:
        """Return the loss of a batch."""
        if self.rewards.credit:
            ids, lengths = inputs["completion_ids"], inputs["completion_mask"].sum(1)
            advantages = inputs["advantages"][:, None].repeat(1, ids.shape[1])
            for place, (row, length) in enumerate(zip(ids, lengths, strict=True)):
                if own := self.rewards.advantages.get(tuple(row[:length].tolist())):
                    advantages[place, :length] = torch.tensor(own)
            inputs = inputs | {"advantages": advantages}
        return super().compute_loss(model, inputs, *args, **more)


class KeepFrontier(TrainerCallback):
    """Writes the frontier's state into each checkpoint."""

    def __init__(self, frontier: Frontier) -> None:
        self.frontier = frontier

    def on_save(self, args: Any, state: Any, control: Any, **more: Any) -> None:
        """Write the state beside the model's."""
        folder = Path(args.output_dir) / f"checkpoint-{state.global_step}"
        (folder / "frontier.json").write_text(json.dumps(self.frontier.state_dict()), "utf-8")


def make_rows(options: argparse.Namespace, frontier: Frontier | None) -> Iterator[Row]:
    """Yield puzzles without end, with the columns `prompt` and `completion`."""
    if frontier:
        yield from frontier
    elif options.mix == "even":
        knobs = {"d": options.d, "N": options.N, "rho": options.rho, "traces": "chat"}
        knobs |= {"seed": options.seed, "split": "train", "num_puzzles": None}
        yield from load_dataset("cogniload", streaming=True, **knobs)
    else:
        rows = datasets.load_dataset("json", data_files=options.mix, split="train")
        while True:
            yield from rows.shuffle(seed=options.seed)


def main() -> None:
    """Train a model, and save it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", help="folder or name of the model")
    parser.add_argument("out", type=Path, help="folder of the checkpoints and of the model")
    parser.add_argument("--mix", default="frontier", help="even, frontier, or a file of puzzles")
    parser.add_argument("--credit", action="store_true", help="an advantage for each statement")
    parser.add_argument("--target", type=float, nargs=2, default=[0.1, 0.6])
    parser.add_argument("--d", type=int, nargs="+", default=[1])
    parser.add_argument("--N", type=int, nargs="+", default=[4, 5, 6, 8, 10, 13, 16, 20, 25, 32])
    parser.add_argument("--rho", type=int, nargs="+", default=[50, 75])
    parser.add_argument("--steps", type=int, default=400, help="updates (400)")
    parser.add_argument("--rate", type=float, default=5e-4, help="learning rate (5e-4)")
    parser.add_argument("--batch", type=int, default=64, help="responses of an update (64)")
    parser.add_argument("--save", type=int, default=100, help="updates between checkpoints (100)")
    parser.add_argument("--tokens", type=int, default=180, help="most tokens of a response")
    parser.add_argument("--temperature", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    frontier = None
    if options.mix == "frontier":
        lengths = range(min(options.N), max(options.N) + 1)
        loads = {"d": options.d, "N": lengths, "rho": options.rho}
        target = float(options.target[0]), float(options.target[1])
        frontier = Frontier(**loads, target=target, seed=options.seed, traces="chat")
    begun = sorted(options.out.glob("checkpoint-*"), key=lambda each: int(each.name[11:]))
    if frontier and begun:
        state = (begun[-1] / "frontier.json").read_text("utf-8")
        frontier.load_state_dict(json.loads(state))
    fixed = yaml.safe_load(Path(__file__).with_name("settings.yaml").read_text("utf-8"))
    settings = GRPOConfig(
        output_dir=str(options.out),
        max_steps=options.steps,
        save_steps=options.save,
        learning_rate=options.rate,
        per_device_train_batch_size=options.batch,
        max_completion_length=options.tokens,
        temperature=options.temperature,
        seed=options.seed,
        ignore_data_skip=frontier is not None,
        **fixed["reinforcement"],
    )
    tokenizer = AutoTokenizer.from_pretrained(options.model)
    rewards = Rewards(frontier, tokenizer, options.credit)
    trainer = Trainer(
        model=AutoModelForCausalLM.from_pretrained(options.model, dtype="float32"),
        processing_class=tokenizer,
        reward_funcs=[rewards],
        train_dataset=IterableDataset.from_generator(lambda: make_rows(options, frontier)),
        args=settings,
        callbacks=[KeepFrontier(frontier)] if frontier else [],
    )
    trainer.rewards = rewards
    trainer.train(resume_from_checkpoint=bool(begun))
    trainer.save_model(str(options.out / "final"))


if __name__ == "__main__":
    main()
