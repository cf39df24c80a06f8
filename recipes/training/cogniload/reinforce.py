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
from cogniload_gen import Frontier, credit_spans, credit_tokens
from cogniload_gen.cogniload.steps.credit import Span
from cogniload_gen.rewards import answer_reward, step_reward, told

Row = dict[str, Any]

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
            self.credit_all(completions, completion_ids, columns, ended, [*groups.values()])
        return rewards

    def credit_all(
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
        judged = []
        for number, (text, right) in enumerate(zip(texts, ended, strict=True)):
            row = {name: columns[name][number] for name in ("id", "puzzle", "N")}
            judged.append({span.statement: span for span in judge(row, text, right)})
        usual = fmean(span.right for spans in judged for span in spans.values())
        for group in groups:
            for number in group:
                worth = {}
                for t, span in judged[number].items():
                    beside = [judged[other][t].right for other in group if t in judged[other]]
                    worth[t] = span.right - (sum(beside) + FEW * usual) / (len(beside) + FEW)
                ids, spans = completion_ids[number], judged[number].values()
                read = self.tokenizer(texts[number], return_offsets_mapping=True)
                if read["input_ids"] == ids[: len(read["input_ids"])]:  # else its places are others
                    ends = [(len(texts[number]), 0)] * (len(ids) - len(read["input_ids"]))
                    offsets = [*read["offset_mapping"], *ends]
                    self.advantages[tuple(ids)] = credit_tokens(spans, offsets, worth)


def judge(row: Row, text: str, solved: bool) -> list[Span]:
    """Return the statements of a response up to its first wrong one.

    The end of a response counts as a statement, the one after the last. It is right if the answer
    is.
    """
    spans = credit_spans(text, row)
    for number, span in enumerate(spans, 1):
        if not span.right:
            return spans[:number]
    last = max((span.end for span in spans), default=0)
    end = Span(last, len(text) + 1, row["N"] + 1 if spans else 0, solved and bool(spans))
    return [*spans, end]


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
    parser.add_argument(
        "--target", type=float, nargs=2, default=(0.1, 0.6), help="of the frontier (0.1 0.6)"
    )
    parser.add_argument("--d", type=int, nargs="+", default=[1])
    parser.add_argument("--N", type=int, nargs="+", default=[4, 5, 6, 8, 10, 13, 16, 20, 25, 32])
    parser.add_argument("--rho", type=int, nargs="+", default=[50, 75])
    parser.add_argument("--steps", type=int, default=400, help="updates (400)")
    parser.add_argument("--rate", type=float, default=5e-4, help="learning rate (5e-4)")
    parser.add_argument("--batch", type=int, default=64, help="responses of an update (64)")
    parser.add_argument("--save", type=int, default=100, help="updates between checkpoints (100)")
    parser.add_argument("--tokens", type=int, default=180, help="most tokens of a response")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    frontier = None
    if options.mix == "frontier":
        lengths = range(min(options.N), max(options.N) + 1)
        loads = {"d": options.d, "N": lengths, "rho": options.rho}
        frontier = Frontier(**loads, target=options.target, seed=options.seed, traces="chat")
    last = "frontier.json" if frontier else "trainer_state.json"  # the last file of a checkpoint
    begun = [*options.out.glob(f"checkpoint-*/{last}")]
    begun.sort(key=lambda file: int(file.parent.name.removeprefix("checkpoint-")))
    if frontier and begun:
        frontier.load_state_dict(json.loads(begun[-1].read_text("utf-8")))
    fixed = yaml.safe_load(Path(__file__).with_name("settings.yaml").read_text("utf-8"))
    settings = GRPOConfig(
        output_dir=str(options.out),
        max_steps=options.steps,
        save_steps=options.save,
        learning_rate=options.rate,
        per_device_train_batch_size=options.batch,
        max_completion_length=options.tokens,
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
    trainer.train(resume_from_checkpoint=str(begun[-1].parent) if begun else None)
    trainer.save_model(str(options.out / "final"))


if __name__ == "__main__":
    main()
