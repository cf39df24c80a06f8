"""What the commands of Tables 4 to 7 share: sets, models, training, answers, fits, tables.

FACTOR, section 5 and Appendices C and D. A command makes what its table needs and is not there yet,
in a folder for each seed and strategy. What is there is whole, so a command that was killed
continues when it is given again.
"""

import argparse
import json
import re
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import groupby, islice
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import torch
import yaml
from datasets import Dataset
from tokenizer import END, make_tokenizer
from torch.nn.functional import cross_entropy
from tqdm import tqdm
from transformers import AutoTokenizer, LlamaConfig, LlamaForCausalLM, set_seed
from trl import SFTConfig, SFTTrainer

from cogniload_analysis import ACCURACY_RANGES, fit_complexity_decay
from cogniload_dataset import load_dataset
from cogniload_gen import score
from cogniload_gen.factor.training import SCALES, scales
from cogniload_gen.files import whole_file, whole_folder

Row = dict[str, Any]
HERE = Path(__file__).parent
VARIABLE = re.compile(r"\bv(\d+)\b")


class Strategy(NamedTuple):
    """One way to train: on which set, and from which strategy's model if not from scratch.

    `masked` leaves the question out of the loss. `packing` is TRL's strategy: both join texts, and
    in "wrapped" a text sees those before it, in "bfd" itself alone.
    """

    split: str
    start: str | None = None
    masked: bool = False
    packing: str | None = None


STRATEGIES = {
    name: Strategy(**settings)
    for name, settings in yaml.safe_load((HERE / "strategies.yaml").read_text("utf-8")).items()
}
"""The strategies of sections 5.1 and 5.2."""


Size = dict[str, Any]
"""A file of `sizes/`: mappings of `model`, `puzzles`, `training` and `test`."""


@dataclass(frozen=True)
class Run:
    """One seed's runs at one size."""

    size: Size
    out: Path
    seed: int

    def folder(self, name: str) -> Path:
        """Return the folder of a strategy."""
        return self.out / f"seed-{self.seed}" / name.replace(" ", "-")


# --- Training --------------------------------------------------------------------------------


def tokenized_texts(size: Size, split: str, seed: int) -> Iterator[Row]:
    """Yield the puzzles of a training set within a size's limits, with solutions, as tokens.

    A puzzle's variables get names among all those of the test puzzles, so that none is unknown
    there. The columns are those of TRL's prompt-completion data.
    """
    limits, names = size["puzzles"], size["test"]["max_N"]
    tokenizer = make_tokenizer(limits["compare"])
    wanted = limits["pretraining" if split in ("pretrain", "clean") else "post_training"]
    rows = load_dataset("factor", suite="symbolic", split=split, seed=seed, streaming=True)
    admitted = (row for row in rows if is_admitted(row, split, limits))
    chosen = islice(admitted, wanted // len(SCALES) if split.startswith("course") else wanted)
    while some := list(islice(chosen, 1000)):
        texts = [as_text(row, seed, names, limits["compare"]) for row in some]
        prompts, completions = (
            tokenizer(list(part))["input_ids"] for part in zip(*texts, strict=True)
        )
        for prompt, completion in zip(prompts, completions, strict=True):
            mask = [0] * len(prompt) + [1] * len(completion)
            yield {"input_ids": prompt + completion, "completion_mask": mask}


def as_text(row: Row, seed: int, names: int, compare: bool) -> list[str]:
    """Return a puzzle's prompt and solution, its variables named anew among v0, v1, ... in order.

    With `compare`, each line of the solution ends in ": yes" if its value is the question's, else
    in ": no". The paper's solutions do not say so.
    """
    draws = np.random.default_rng([seed, row["index"]])
    drawn = np.sort(draws.choice(names, row["N"], replace=False)).tolist()
    *lines, conclusion = in_order(row["solution"]).split("\n")
    if compare:
        verdicts = {True: ": yes", False: ": no"}
        lines = [f"{line}{verdicts[int(line.split()[-1]) == row['target']]}" for line in lines]
    texts = as_prompt(row), "\n".join([*lines, conclusion]) + END
    return [VARIABLE.sub(lambda v: f"v{drawn[int(v[1])]}", text) for text in texts]


def is_admitted(row: Row, split: str, limits: dict[str, int]) -> bool:
    """Whether a puzzle's variables, and its filler before scaling, are within the limits."""
    most = limits["max_filler"] * scales(split, np.array(row["index"]))
    return bool(row["N"] <= limits["max_N"] and row["context"] <= most)


def as_prompt(row: Row) -> str:
    """Return a model's prompt: the puzzle, and a new line for the solution."""
    return f"{row['puzzle']}\n"


def in_order(solution: str) -> str:
    """Return a solution whose next line is that of the lowest variable that can be worked out.

    The generator's order is one of many: which line comes next can't be foreseen, and what can't be
    foreseen drowns what a small model is to learn.
    """
    *lines, conclusion = solution.split("\n")
    defined = {line.split(" = ")[0]: line for line in lines}
    waiting, ordered = sorted(defined, key=lambda name: int(name[1:])), []
    while waiting:
        ready = (name for name in waiting if defined[name].split()[2] not in waiting)
        waiting.remove(name := next(ready))
        ordered.append(defined[name])
    return "\n".join([*ordered, conclusion])


def make_model(size: Size) -> LlamaForCausalLM:
    """Return a new model of a size (Table 8), with the tokenizer's entries."""
    tokenizer = make_tokenizer(size["puzzles"]["compare"])
    ends = {"eos_token_id": tokenizer.eos_token_id, "bos_token_id": None}
    entries = {"vocab_size": len(tokenizer), "pad_token_id": tokenizer.pad_token_id}
    return LlamaForCausalLM(LlamaConfig(**entries, **ends, **size["model"]))


class Trainer(SFTTrainer):
    """TRL's trainer, which on a processor too works out the vocabulary only where the loss counts.

    TRL does that on a GPU alone. Elsewhere its loss takes 40 % of a small model's step.
    """

    def compute_loss(
        self,
        model: LlamaForCausalLM,
        inputs: dict[str, torch.Tensor],
        return_outputs: bool = False,
        num_items_in_batch: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Return the loss of a batch: the sum over its counted tokens, over those of the step."""
        if inputs["input_ids"].device.type != "cpu":
            return super().compute_loss(model, inputs, return_outputs, num_items_in_batch)
        labels = inputs.pop("labels")[:, 1:]
        counted = labels != -100
        hidden = model.model(**inputs, use_cache=False).last_hidden_state[:, :-1]
        logits = model.lm_head(hidden[counted])
        return cross_entropy(logits, labels[counted], reduction="sum") / num_items_in_batch


def make_trainer(run: Run, name: str, model: LlamaForCausalLM, rows: Dataset) -> Trainer:
    """Return the trainer of a strategy.

    A step takes `batch` texts, or the number of packs that hold `batch` texts on average. Packs go
    through the model one by one, and texts as many at once as `tokens_at_once` allows.
    """
    strategy, tokenizer = STRATEGIES[name], make_tokenizer(run.size["puzzles"]["compare"])
    settings = dict(run.size["training"])
    batch, pack, most = (settings.pop(key) for key in ("batch", "pack_length", "tokens_at_once"))
    lengths = [len(ids) for ids in rows[:1000]["input_ids"]]
    if strategy.packing:
        batch, at_once = max(1, round(batch * np.mean(lengths) / pack)), 1
    else:
        fits = max(1, most // max(lengths))
        at_once = max(part for part in range(1, fits + 1) if batch % part == 0)
    arguments = SFTConfig(
        output_dir=str(run.folder(name) / "checkpoints"),
        seed=run.seed,
        completion_only_loss=strategy.masked,
        packing=strategy.packing is not None,
        packing_strategy=strategy.packing or "bfd",
        max_length=pack if strategy.packing else None,
        per_device_train_batch_size=at_once,
        gradient_accumulation_steps=batch // at_once,
        dataloader_pin_memory=torch.cuda.is_available(),
        disable_tqdm=not sys.stderr.isatty(),
        save_total_limit=2,
        report_to="none",
        **settings,
    )
    return Trainer(model, arguments, train_dataset=rows, processing_class=tokenizer)


def train(run: Run, name: str) -> Path:
    """Return the folder of a strategy's model and tokenizer, trained if it is not there."""
    folder, strategy = run.folder(name), STRATEGIES[name]
    finished = folder / "model"
    if finished.exists():
        return finished
    start = train(run, strategy.start) if strategy.start else None
    set_seed(run.seed)
    model = LlamaForCausalLM.from_pretrained(start) if start else make_model(run.size)
    rows = Dataset.from_generator(
        tokenized_texts,
        gen_kwargs={"size": run.size, "split": strategy.split, "seed": run.seed},
        cache_dir=str(run.out / "rows"),
    )
    trainer = make_trainer(run, name, model, rows)
    trainer.train(resume_from_checkpoint=last_checkpoint(folder / "checkpoints"))
    with whole_folder(finished) as new:
        trainer.model.save_pretrained(new)
        trainer.processing_class.save_pretrained(new)
    shutil.rmtree(folder / "checkpoints")
    return finished


def last_checkpoint(folder: Path) -> str | None:
    """Return the last checkpoint that was written to its end: the trainer's state comes last."""
    whole = []
    for state in folder.glob("checkpoint-*/trainer_state.json"):
        with suppress(ValueError):
            whole.append((json.loads(state.read_text("utf-8"))["global_step"], str(state.parent)))
    return max(whole)[1] if whole else None


# --- Answers and fits ------------------------------------------------------------------------


def answers(run: Run, name: str, context: int, attempts: int = 1) -> pd.DataFrame:
    """Return a strategy's answers to the test puzzles of a context, made if they are not there.

    One attempt is greedy, several are drawn at temperature 1.
    """
    path = run.folder(name) / f"answers-{context}-{attempts}.jsonl"
    if not path.exists():
        test = run.size["test"]
        grid = {"N": list(range(1, test["max_N"] + 1)), "num_puzzles": test["puzzles"]}
        settings = {"suite": "symbolic", "split": "test", "context": context, "streaming": True}
        rows = load_dataset("factor", **settings, **grid)
        most = run.size["training"]["tokens_at_once"]
        made = pd.DataFrame(answer(train(run, name), list(rows), most, attempts, run.seed))
        with whole_file(path) as new:
            made.to_json(new, orient="records", lines=True)
    return pd.read_json(path, lines=True)


def answer(
    model_folder: Path, rows: Sequence[Row], tokens_at_once: int, attempts: int = 1, seed: int = 0
) -> Iterator[Row]:
    """Yield the scored answers of a model to puzzles."""
    tokenizer = AutoTokenizer.from_pretrained(model_folder)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model = LlamaForCausalLM.from_pretrained(model_folder).to(device).eval()
    set_seed(seed)
    for batch in tqdm(list(batches(rows, tokens_at_once // attempts)), disable=None):
        texts = [as_prompt(row) for row in batch]
        prompts = tokenizer(texts, padding=True, return_tensors="pt").to(device)
        written = model.generate(
            **prompts,
            max_new_tokens=solution_tokens(batch[0]["N"]),
            do_sample=attempts > 1,
            num_return_sequences=attempts,
        )[:, prompts["input_ids"].shape[1] :]
        texts = tokenizer.batch_decode(written, skip_special_tokens=True)
        for row, text in zip(np.repeat(batch, attempts), texts, strict=True):
            result = score(text, row)
            facts = {"outcome": result.outcome.value, "correct": int(result.correct)}
            yield {key: row[key] for key in ("id", "N", "context")} | facts | {"response": text}


def batches(rows: Sequence[Row], tokens_at_once: int) -> Iterator[list[Row]]:
    """Yield puzzles of equal size together, as many as the tokens at once allow."""
    size = itemgetter("N", "context")
    for (N, context), alike in groupby(sorted(rows, key=size), key=size):
        most = max(1, tokens_at_once // (context + 2 * solution_tokens(N)))
        while some := list(islice(alike, most)):
            yield some


def solution_tokens(N: int) -> int:
    """Return more tokens than the longest solution of N variables has."""
    return 20 * N + 20


def decay(run: Run, name: str, context: int, phase: str) -> Row:
    """Return accuracy, CDF, CDO and N_eff of a strategy at a context.

    `phase` says which accuracies are fitted, by Appendix B.2.
    """
    responses = answers(run, name, context)
    method, limits = run.size["test"]["method"], ACCURACY_RANGES[phase]
    fit = fit_complexity_decay(responses, method, accuracy_range=limits)
    n_eff = np.nan if "N_eff" in fit.problems else fit.n_eff
    fitted = {"CDF": fit.cdf, "CDO": fit.cdo, "N_eff": n_eff}
    return row_of(run, name, context, responses) | fitted | {"problem": fit.problems.get("CDF", "")}


def row_of(run: Run, name: str, context: int, responses: pd.DataFrame) -> Row:
    """Return what all tables have of a strategy's responses at a context."""
    accuracy = responses["correct"].mean()
    return {"model": name, "seed": run.seed, "context": context, "accuracy": accuracy}


def over_seeds(
    rows: pd.DataFrame, by: Sequence[str], values: Sequence[str], paper: pd.DataFrame
) -> pd.DataFrame:
    """Return mean and standard error of each value over the seeds that have one, and their number.

    A standard error takes two seeds. The paper's rows, of one seed, follow.
    """
    groups = rows.groupby(list(by), sort=False)[list(values)]
    parts = {"": groups.mean(), "_se": groups.sem(), "_seeds": groups.count()}
    mine = pd.concat([part.add_suffix(suffix) for suffix, part in parts.items()], axis=1)
    mine = mine.reset_index().assign(source="here")
    return pd.concat([mine, paper.assign(source="paper")], ignore_index=True)


# --- Tables and commands ---------------------------------------------------------------------


def printed(table: pd.DataFrame, value: str, digits: int) -> list[str]:
    """Return a value of `over_seeds` with its standard error in print; "--" where there is none."""

    def text(mean: float, error: float) -> str:
        spread = f" ± {error:.{digits}f}" if np.isfinite(error) else ""
        return f"{mean:.{digits}f}{spread}" if np.isfinite(mean) else "--"

    return [text(*pair) for pair in zip(table[value], table[f"{value}_se"], strict=True)]


def write_values(
    name: str,
    runs: Sequence[Run],
    rows: pd.DataFrame,
    digits: dict[str, int],
    paper: pd.DataFrame,
    unseen: Sequence[str] = (),
) -> None:
    """Write a table whose columns are values, printed with their `digits`, but for the `unseen`.

    Its rows are of a model, and of a context where `paper`, the published rows, has several.
    """
    by = [key for key in ("model", "context") if key in paper]
    table = over_seeds(rows, by, [*digits, *unseen], paper)
    texts = {value: printed(table, value, places) for value, places in digits.items()}
    keys = table[["model", "source", *by[1:]]]
    write_table(name, runs, table, keys.join(pd.DataFrame(texts)), rows)


def write_table(
    name: str, runs: Sequence[Run], table: pd.DataFrame, texts: pd.DataFrame, rows: pd.DataFrame
) -> None:
    """Write a table as NAME.csv, its rows by seed as NAME-seeds.csv, and its texts as NAME.md."""
    out = runs[0].out
    for stem, frame in ((name, table), (f"{name}-seeds", rows)):
        with whole_file(out / f"{stem}.csv", force=True) as file:
            frame.to_csv(file, index=False)
    failed = rows[rows["problem"] != ""].groupby("problem", sort=False).size()
    problems = [f"Without a fit, {count} of {len(rows)}: {what}." for what, count in failed.items()]
    lines = [list(texts), ["---"] * len(texts.columns), *texts.to_numpy().tolist()]
    markdown = "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)
    text = "\n\n".join([markdown, *problems])
    with whole_file(out / f"{name}.md", force=True) as file:
        file.write_text(f"{text}\n", "utf-8")
    print(text)


def read_size(name: str) -> Size:
    """Return a size by the name of its file here, or by a path; OSError if there is none."""
    ours = HERE / "sizes" / f"{name}.yaml"
    size: Size = yaml.safe_load((ours if ours.is_file() else Path(name)).read_text("utf-8"))
    return size


def main(write: Callable[[list[Run], list[str]], None], names: Sequence[str], about: str) -> None:
    """Run the command of a table: train, test and write it for the strategies `names`."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("out", type=Path, help="folder of the runs and the tables")
    parser.add_argument("--size", default="paper", help="hour, paper, tiny, or a YAML file")
    several: dict[str, Any] = {"nargs": "+", "metavar": "SEED", "help": "a run for each (0 1 2)"}
    parser.add_argument("--seeds", type=int, default=[0, 1, 2], **several)
    several |= {"metavar": "STRATEGY", "help": f"some of the strategies: {', '.join(names)}"}
    parser.add_argument("--only", choices=names, default=list(names), **several)
    options = parser.parse_args()
    try:
        size = read_size(options.size)
    except OSError as error:
        parser.error(f"size must be hour, paper, tiny or a YAML file: {error}")
    kept = options.out / "size.json"
    if kept.exists() and json.loads(kept.read_text("utf-8")) != size:
        parser.error(f"{options.out} holds runs of another size: name another folder")
    with whole_file(kept, force=True) as file:
        file.write_text(json.dumps(size), "utf-8")
    write([Run(size, options.out, seed) for seed in options.seeds], options.only)
