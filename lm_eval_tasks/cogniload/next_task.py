"""The next value of a right trace, as lm-eval asks for it: one question, or all of a puzzle.

`cogniload_next` draws one question a puzzle, and asks any backend with log-likelihoods for each of
its choices. `cogniload_next_all` asks for the likelihood of a whole trace; a model of Hugging Face
in this process then answers all questions of the puzzle in one pass (`read_in_one_pass`).
"""

import logging
from collections.abc import Mapping, Sequence
from functools import cache, partial
from inspect import signature
from typing import Any

import numpy as np
import torch
from datasets import Dataset
from lm_eval.api.instance import Instance
from lm_eval.api.task import ConfigurableTask
from lm_eval.models.huggingface import HFLM

from cogniload_gen.cogniload.next_value import draw_question, questions_of
from cogniload_gen.cogniload.score import Outcome
from lm_eval_tasks.budget import count_prompt_tokens
from lm_eval_tasks.documents import make_dataset
from lm_eval_tasks.lm_eval_private import model_under_evaluation
from lm_eval_tasks.metrics import Fields

log = logging.getLogger(__name__)

_KEPT = "id", "d", "N", "rho", "needles", "seed", "index", "poi", "context_budget"


def make_documents(*, whole: bool = False, **settings: Any) -> dict[str, Dataset]:
    """Return the documents of a task: one question of each puzzle, or with `whole` its trace.

    The parameters are those of `make_dataset`.
    """
    documents = []
    for row in make_dataset(dataset="cogniload", **settings)["test"].to_list():
        begins, questions, rest = questions_of(row)
        told: dict[str, Any] = {
            "puzzle": f"{row['puzzle']}\n\n{begins}",
            "choices": [rest],
            "target": 0,
        }
        if not whole:
            questions = [draw_question(row, questions)]
            told |= {name: questions[0][name] for name in ("choices", "target")}
            told["puzzle"] += rest[: questions[0]["at"]]
            row["id"] += "@{statement}-{category}".format(**questions[0])
        # a suite of its own, so that no reader of responses takes it for a puzzle's
        told |= {name: row[name] for name in _KEPT} | {"questions": questions, "suite": "next"}
        documents.append(told)
    return {"test": Dataset.from_list(documents)}


def make_shots() -> list[dict[str, Any]]:
    """Return examples for --num_fewshot: whole traces of puzzles that no other seed has."""
    drawn: dict[str, Any] = {"d": [1, 3], "N": 6, "rho": 50, "num_puzzles": 8, "seed": 2**62}
    drawn |= {"split": "validation", "trace": True, "context_budget": 32768}
    return make_documents(whole=True, defaults=drawn)["test"].to_list()


class NextTask(ConfigurableTask):
    """A task about the next value of a trace.

    A chat template and a system prompt are left out, with a warning: the trace would stand in the
    user's turn. ValueError for --cache_requests, and for a prompt that a model's window would cut.
    """

    def __init__(self, config: dict[str, Any]) -> None:
        super().__init__(config={key: value for key, value in config.items() if key != "class"})

    def build_all_requests(self, **settings: Any) -> None:
        """Build the requests as lm-eval does, and have a local model read whole traces in one pass.

        A model whose code takes no places of its tokens can't: it gives the loss alone.
        """
        task, chat = self.config.task, ("apply_chat_template", "system_instruction")
        if settings.pop("cache_requests", False):
            raise ValueError(f"{task}: --cache_requests is refused: its key leaves the puzzles out")
        if sum(bool(settings.pop(name, None)) for name in chat):
            log.warning("%s: a trace is continued without a chat template or a system prompt", task)
        super().build_all_requests(**settings | {"fewshot_as_multiturn": False})
        model = model_under_evaluation()
        model = getattr(model, "inner", model)
        longest = max(("".join(each.args) for each in self.instances), key=len)
        needed = count_prompt_tokens(model, longest) or 0
        if needed > (window := getattr(model, "max_length", None) or needed):
            takes = f"a prompt takes {needed:,} tokens and the model {window:,}"
            raise ValueError(f"{task}: {takes}: lower N, d or shots in --metadata")
        if isinstance(model, HFLM) and "position_ids" in signature(model.model.forward).parameters:
            model.loglikelihood = partial(_loglikelihood, model)


def _loglikelihood(model: HFLM, requests: Sequence[Instance], **settings: Any) -> list[Any]:
    """Answer requests as lm-eval does, and those for whole traces of ours in one pass each."""
    ours = [isinstance(each.doc, dict) and _is_whole(each.doc) for each in requests]
    others = [each for each, own in zip(requests, ours, strict=True) if not own]
    plain = iter(type(model).loglikelihood(model, others, **settings) if others else ())
    asked = zip(requests, ours, strict=True)
    return [read_in_one_pass(model, each) if own else next(plain) for each, own in asked]


def _is_whole(doc: Mapping[str, Any]) -> bool:
    return doc.get("suite") == "next" and len(doc["choices"]) == 1


def read_in_one_pass(model: HFLM, request: Instance) -> tuple[Any, ...]:
    """Return what a model says of the whole trace of a request, in one pass over it.

    That is the log-likelihood of the trace; whether each of its tokens is the likeliest; and for
    each question the log-likelihoods of its choices. A wrong choice is another way from where it
    differs from the right one: its tokens stand behind the trace, but have their own places there,
    and see the trace up to there and one another alone.
    """

    whole = cache(model.tok_encode)

    def encode(before: str, text: str) -> list[int]:
        return whole(before + text)[len(whole(before)) :]

    (prompt, trace), doc, told = request.args, request.doc, 0
    ids, start = model.tok_encode(prompt), len(model.tok_encode(prompt.rstrip()))
    asked = list[tuple[int, list[list[int]]]]()
    for question in doc["questions"]:
        ids += encode(".\n", trace[told : question["at"]])
        choices = [encode(f".\n{doc['poi']}", choice) for choice in question["choices"]]
        asked.append((len(ids), choices))
        ids += choices[question["target"]]
        told = question["at"] + len(question["choices"][question["target"]])
    ids += encode(".\n", trace[told:])
    size = len(ids)
    places, unseen, firsts = [*range(size)], list[tuple[int, int]](), [0]
    pairs = [*zip(range(start - 1, size), ids[start:], strict=False)]
    for first, ways in asked:
        for way in ways:
            same = [mine == right for mine, right in zip(way, ids[first:size], strict=False)]
            turn = first + int(np.cumprod(same).sum())
            more = range(len(ids), len(ids) + len(way) + first - turn - 1)
            firsts.append(len(pairs))
            pairs += zip([*range(first - 1, turn), *more], way, strict=False)
            places += range(turn, turn + len(more))
            unseen += [(turn, len(ids))] * len(more)
            ids += way[turn - first : -1]
    given = {"input_ids": torch.tensor([ids]), "position_ids": torch.tensor([places])}
    if unseen:  # else the model's own mask, which is faster
        least, dtype = torch.finfo(model.model.dtype).min, model.model.dtype
        mask = torch.full((1, 1, len(ids), len(ids)), least, dtype=dtype).triu(1)
        for row, (turn, begun) in enumerate(unseen, size):
            mask[..., row, turn:begun] = least
        given["attention_mask"] = mask
    given = {name: each.to(model.device) for name, each in given.items()}
    with torch.no_grad():
        logits = model.model(**given, use_cache=False).logits[0]
    rows, tokens = torch.tensor(pairs, device=logits.device).T
    found = torch.log_softmax(logits, -1, dtype=model.softmax_dtype)[rows, tokens]
    greedy = bool((logits.argmax(-1)[rows] == tokens)[: size - start].all())
    sums = iter(np.add.reduceat(found.double().cpu().numpy(), firsts).tolist())
    answer = next(sums), greedy, [[next(sums) for _ in ways] for _, ways in asked]
    model.cache_hook.add_partial("loglikelihood", request.args, answer)
    return answer


def process_results(doc: dict[str, Any], results: list[Any]) -> dict[str, Any]:
    """Return the metrics of a document, and under `answered` what was found of each question.

    These are the statement, the category and the kind; `said`, the likeliest value of the category;
    `wrong`, whether the right one is another; and the `bits` of the right one among them.
    """
    fields, found, answered = dict[str, Any](), [[it[0] for it in results]], []
    if _is_whole(doc):
        likelihood, _, found = (*results[0], [])[:3]
        fields["loss"] = -likelihood / len(doc["choices"][0].encode()) / np.log(2)
    for asked, each in zip(doc["questions"], found, strict=False):
        best, right = int(np.argmax(each)), asked["target"]
        about = {name: asked[name] for name in ("statement", "category", "kind")}
        about |= {"said": asked["choices"][best].strip(), "wrong": best != right}
        bits = float(np.logaddexp.reduce(each) - each[right]) / np.log(2)
        answered.append(about | {"bits": bits})
    if answered:
        bits, wrong = np.mean([(each["bits"], each["wrong"]) for each in answered], 0).tolist()
        fields |= {"acc": 1 - wrong, "bits": bits}
    outcome = Outcome.WRONG_LOGIC if fields.get("acc", 1) < 1 else Outcome.CORRECT_VALID
    return Fields(fields | {"answered": answered, "outcome": outcome}, fields)
