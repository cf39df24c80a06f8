"""Samples: what they say of a response, whichever harness obtained it; read, and scored again.

A sample is a line of lm-eval's samples_*.jsonl: `doc`, `resps`, `filtered_resps`, `arguments`, the
metrics, and what the harness counted. Other tools leave fields out or write them otherwise, so that
they are read leniently: an unknown count is None, and a missing response is empty.
"""

import json
import logging
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from functools import cache
from math import isnan
from pathlib import Path
from typing import Any, NamedTuple

from tqdm import tqdm

from cogniload_gen import benchmarks
from cogniload_gen.benchmark import OutcomeName, Row, Score
from cogniload_gen.endings import Ending, ending_of, kind_of
from cogniload_gen.files import MALFORMED, load_json, open_file, read_objects, whole_file
from cogniload_gen.reasoning import NO_REASONING, Reasoning, join, split

Sample = dict[str, Any]

log = logging.getLogger(__name__)

COUNTS = ("prompt_tokens", "response_tokens")
SPENT = "spent_response_tokens"
"""What a sample with several attempts at its puzzle holds: the tokens of all their responses."""

LIMITS = ("max_gen_toks", "max_new_tokens", "max_tokens", "max_completion_tokens")
"""The names under which requests have the limit of a response, in tokens."""

OF_FIRST = ("response_tokens", "finish_reason", "outcome", "ending")
"""What a sample with several attempts says of the first one alone."""

REASONINGS = "reasonings"
"""What a sample with several attempts holds of the reasoning of each, as a list."""

ATTEMPT = "attempt"
"""What a sample that is one of several attempts holds: which it is, from 0."""

STEP_FACTS = ("read", "first_error", "error", "recovered", "coverage")


def sample_metrics(response: str, row: Row) -> dict[str, Any]:
    """Return what a sample says of a response: score, ending, steps, reasoning and tokens.

    `row` is the puzzle with the counts of `Share.scored`, its `response_limit`, and, where its
    backend tells them, `finish_reason`, `reasoning` and `reasoning_hidden`.
    """
    counts = {name: row[name] for name in COUNTS if row[name] is not None}
    told = Reasoning(join(response, row.get("reasoning")), row.get("reasoning_hidden"))
    return answer_metrics(response, row) | step_metrics(response, row, told) | counts


def answer_metrics(response: str, row: Row) -> dict[str, Any]:
    """Return what a sample says of a response's score and ending; `row` as for `sample_metrics`."""
    known: Any = {name: row.get(name) for name in (*COUNTS, "context_budget", "finish_reason")}
    if known["prompt_tokens"] is None:  # a prompt that nobody counted is 0
        known["context_budget"] = row.get("response_limit", known["context_budget"])
    ending = ending_of(split(response).response, **known)
    return score_metrics(benchmarks.score(response, row, **known), ending)


def score_metrics(score: Score, ending: Ending | None) -> dict[str, Any]:
    """Return a score as a sample holds it, with how the response ended.

    `acc`, the outcome's name, 1 or 0 for every wrong outcome, the score's details, and under
    `answer_read` the value that was read, its place in the response and the reason. `acc_uncut` is
    `acc`, but None for a response that a limit cut, and `overflow` is 1 for such a one, 0 for
    others and None where nobody knows.
    """
    kinds: Any = type(score.outcome)
    wrong = {kind.value: int(kind is score.outcome) for kind in kinds if not kind.correct}
    evidence = None if score.evidence is None else list(score.evidence)
    read = {"value": score.value, "evidence": evidence, "explanation": score.explanation}
    acc, cut = int(score.correct), ending == "cut"
    return {
        "acc": acc,
        "acc_uncut": None if cut else acc,
        "overflow": None if ending is None else int(cut),
        "ending": ending,
        "outcome": score.outcome.value,
        **wrong,
        **score.details,
        "answer_read": read,
    }


def step_metrics(response: str, row: Row, told: Reasoning = NO_REASONING) -> dict[str, Any]:
    """Return where a response's reasoning breaks, as a sample holds it under `steps_read`.

    `error_none` and `error_` with each kind of a first error are 1 or 0, None if it can't be read:
    as of a reasoning that is hidden, which `reasoning_hidden` then names. For a benchmark whose
    responses nothing reads, there is the reasoning alone. A puzzle that the solver can't read, as
    one that was published elsewhere, has responses that can't be read either.
    """
    benchmark = benchmarks.of(row)
    about: dict[str, Any] = {"reasoning": told.text}
    if told.hidden:
        about["reasoning_hidden"] = told.hidden
    if not benchmark.step_errors:
        return about
    facts: dict[str, Any] = dict.fromkeys(STEP_FACTS) | {"read": False, "coverage": 0.0}
    with suppress(ValueError):
        if not told.hidden:
            steps = benchmarks.read_steps(response, row, told.text)
            facts = {name: getattr(steps, name) for name in STEP_FACTS}
    first = str(facts["error"] or "none")
    kinds = ("none", *benchmark.step_errors)
    flags = {f"error_{kind}": int(kind == first) if facts["read"] else None for kind in kinds}
    return about | {"steps_read": facts} | flags


def split_failure(doc: Mapping[str, Any], right: int) -> dict[str, Any]:
    """Return what became of a retrieved prompt; empty for a whole one.

    `recall` is [statements found, statements needed]. A wrong answer is `not_retrieved` if any of
    these is missing, else `not_reasoned`: acc, `not_retrieved` and `not_reasoned` add up to 1.
    """
    if "retrieval" not in doc:
        return {}
    closed = doc["found"] == doc["needed"]
    return {
        "recall": [doc["found"], doc["needed"]],
        "closure_recall": int(closed),
        "not_retrieved": int(not right and not closed),
        "not_reasoned": int(not right and closed),
    }


# --- Read ------------------------------------------------------------------------------------


# The names that EvaluationTracker of lm-eval 0.4.13 gives: a date such as 2026-11-21T08-26-58.1.
# Behind the date, -1 is a further part of a run, such as the twins that were answered elsewhere.
SAMPLES_NAME = re.compile(
    r"samples_(?P<task>.+)_(?P<date>\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d(\.\d+)?)(?P<part>-\d+)?"
    r"\.jsonl(\.gz)?"
)


def read_samples(path: Path) -> Iterator[tuple[str, int, Sample]]:
    """Yield the samples of a file's first filter, as lm-eval repeats them for each filter.

    A sample comes with its places, as `read_objects` gives them. A line that stands there again is
    left out, and a warning counts them. ValueError as there, and for a file without samples.
    """
    first, seen, doubled = None, set(), 0
    of_first, others = set(), set()
    for where, offset, sample in read_objects(path):
        first = first or [sample.get("filter")]
        document = repr(sample.get("doc_id"))
        if sample.get("filter", first[0]) != first[0]:
            others.add(document)
            continue
        of_first.add(document)
        doc = sample.get("doc")
        said = [sample.get(name) for name in ("resps", "filtered_resps", "reasoning", ATTEMPT)]
        it = hash((document, repr(doc.get("id") if isinstance(doc, dict) else doc), repr(said)))
        if it in seen:
            doubled += 1
            continue
        seen.add(it)
        yield where, offset, sample
    if not first:
        raise ValueError(f"{path} holds no responses")
    if doubled:
        warn_once(f"{path}: {doubled:,} lines stand there again, and are counted once")
    if missing := len(others - of_first):
        warn_once(f"{path}: left out {missing:,} puzzles with lines of another filter alone")


@cache
def warn_once(message: str) -> None:
    """Log a warning, once in a process: a file is read several times."""
    log.warning("%s", message)


def read_results(file: Path) -> dict[str, Any]:
    """Return what lm-eval's results file beside a samples file holds; nothing without one.

    It has the samples' date in its name; of several, the first by name counts. Raises ValueError
    for one that holds no object of JSON.
    """
    if not (name := SAMPLES_NAME.fullmatch(file.name)):
        return {}
    ends = tuple(f"_{name['date']}.json{end}" for end in ("", ".gz"))
    beside = sorted(other for other in file.parent.iterdir() if other.name.endswith(ends))
    for results in beside:
        with naming(f"{results} is no results file of lm-eval"), open_file(results) as opened:
            return dict(load_json(opened.read()).items())
    return {}


@contextmanager
def naming(where: str, *errors: type[Exception]) -> Iterator[None]:
    """Raise what a sample that can't be read raises as a ValueError that begins with its place.

    That are the errors of malformed JSON, and further ones.
    """
    try:
        yield
    except MALFORMED + errors as error:
        cause = f"no field {error}" if isinstance(error, KeyError) else str(error)
        raise ValueError(f"{where}: {' '.join(cause.split())[:300]}") from error


def as_count(value: object) -> int | None:
    """Return an integer from 0 to 2^63 - 1, also one that is written as 12.0 or "12".

    None for all else: nobody knows how many these are.
    """
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    with suppress(ValueError):
        number = float(value) if isinstance(value, str) else value
        if 0 <= number < 2**63 and number == int(number):
            return int(number)
    return None


def as_text(value: object) -> str:
    """Return a text, or what else a cell holds as one; NaN, as of pandas, and None are empty."""
    return "" if value is None or (isinstance(value, float) and isnan(value)) else str(value)


def read_responses(sample: Mapping[str, Any]) -> list[str]:
    """Return the responses of a sample, one for each attempt at its puzzle; "" for a missing one.

    Where a filter made something else of them, there is that alone, as it was scored.
    """
    kept, raw = (_first(sample.get(name)) for name in ("filtered_resps", "resps"))
    attempts = raw if isinstance(raw, list) else [raw]
    if isinstance(kept, list):
        attempts = kept
    elif kept is not None and kept not in attempts[:1]:
        attempts = [kept]
    return [as_text(text) for text in attempts or [None]]


def _first(values: Any) -> Any:
    return (values[0] if values else None) if isinstance(values, list) else values


def request_settings(sample: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of generation that a sample's request had.

    Older versions of lm-eval write requests as lists, newer ones as mappings.
    """
    for request in _members(sample.get("arguments")):
        for settings in _members(request):
            if isinstance(settings, Mapping):
                return dict(settings)
    return {}


def _members(values: Any) -> list[Any]:
    if isinstance(values, Mapping):
        return list(values.values())
    return values if isinstance(values, list) else []


def is_greedy(settings: Mapping[str, Any], results: Mapping[str, Any]) -> bool:
    """Return whether responses were decoded without luck, by the `settings` of their requests.

    lm-eval sends temperature 0 where none is given, and 1 to OpenAI's models that reason, whatever
    is given; `results` is its results file, which says the backend.
    """
    config = results.get("config")
    backend = config.get("model") if isinstance(config, Mapping) else None
    reasons = re.search("o1|o3|o4|5", str(results.get("model_name")))
    if backend == "openai-chat-completions" and reasons:
        return False
    sampled = settings.get("do_sample")
    if re.fullmatch(".*completions|.*-chat|anthropic.*", str(backend)):
        sampled = None  # which these leave out
    if sampled is False:
        return True
    usual = None if sampled or backend in (None, "inspect") else 0
    with suppress(ValueError, TypeError):
        return float(settings.get("temperature", usual)) == 0
    return False


def request_limit(sample: Mapping[str, Any]) -> int | None:
    """Return the limit of a sample's response, in tokens; None where its request says none."""
    settings = request_settings(sample)
    limits = (as_count(settings.get(name)) for name in LIMITS)
    return next((limit for limit in limits if limit), None)


def spent_tokens(sample: Mapping[str, Any]) -> tuple[int, int] | None:
    """Return the tokens of a sample's prompts and of its responses; None where nobody counts.

    All attempts count: those of a sample without SPENT as the first one.
    """
    prompt, response, spent = (as_count(sample.get(name)) for name in (*COUNTS, SPENT))
    attempts = _first(sample.get("resps"))
    count = len(attempts) if isinstance(attempts, list) else 1
    if spent is None and response is not None:
        spent = count * response
    return None if prompt is None or spent is None else (count * prompt, spent)


# --- Scored again ----------------------------------------------------------------------------


def split_attempts(sample: Sample) -> list[Sample]:
    """Return a sample for each attempt of one that has several, as with lm-eval's `repeats`.

    What is said of the first attempt alone, its outcome too, stays with it. Nothing tells the
    tokens of the others apart: each attempt has under SPENT an equal share of those of all.
    """
    responses = read_responses(sample)
    if len(responses) == 1:
        return [sample]
    spent, count = spent_tokens(sample), len(responses)
    apart = (*OF_FIRST, SPENT, REASONINGS)
    shared = {name: held for name, held in sample.items() if name not in apart}
    of_first = {name: sample[name] for name in OF_FIRST if name in sample}
    reasonings = sample.get(REASONINGS)
    thoughts = dict(enumerate(reasonings if isinstance(reasonings, list) else ()))
    attempts = []
    for place, response in enumerate(responses):
        attempt = shared | {"resps": [[response]], "filtered_resps": [response], ATTEMPT: place}
        attempt["reasoning"] = thoughts.get(place, None if place else sample.get("reasoning"))
        if spent:  # whole tokens, which add up
            attempt[SPENT] = spent[1] * (place + 1) // count - spent[1] * place // count
        attempts.append(attempt if place else attempt | of_first)
    return attempts


def score_attempts(sample: Sample) -> list[Sample]:
    """Return a sample for each attempt; lm-eval scores the first one, so the others are here.

    The attempts at a puzzle that can't be scored again, as it was made elsewhere, stay one sample.
    """
    first, *others = split_attempts(sample)
    with suppress(*MALFORMED):
        return [first, *(each | _metrics_again(each, score_sample(each)) for each in others)]
    return [sample]


def _metrics_again(sample: Sample, scored: Score) -> dict[str, Any]:
    doc, response = sample["doc"], read_responses(sample)[0]
    ending = read_ending({**sample, "outcome": scored.outcome.value})
    metrics = score_metrics(scored, ending)
    metrics |= step_metrics(response, doc, read_reasoning(sample))
    return metrics | split_failure(doc, int(scored.correct))


def read_reasoning(sample: Mapping[str, Any]) -> Reasoning:
    """Return the reasoning of a sample's response, that which stands in the response too."""
    held, hidden = sample.get("reasoning"), sample.get("reasoning_hidden")
    text = join(read_responses(sample)[0], held if isinstance(held, str) else None)
    return Reasoning(text, hidden if isinstance(hidden, str) else None)


def read_ending(sample: Mapping[str, Any]) -> Ending | None:
    """Return how a sample's response ended; None where nobody knows.

    By the backend's word, else by its outcome, else by its counts of tokens.
    """
    reason = sample.get("finish_reason")
    if kind_of(reason) is None and _is_cut(sample):
        return "cut"
    response = split(read_responses(sample)[0]).response
    return ending_of(response, finish_reason=reason, **_counts_of(sample))


def _is_cut(sample: Mapping[str, Any]) -> bool:
    """Return whether a response was cut off by its outcome, which empty ones have too."""
    cut = str(sample.get("outcome")).endswith("max_context")
    return cut and bool(split(read_responses(sample)[0]).response.strip())


def _counts_of(sample: Mapping[str, Any]) -> dict[str, int | None]:
    """Return the tokens that a sample's response had, and the budget.

    The budget is the prompt and the limit of the response; of its document where the sample does
    not say both. Where a count is unknown, a response that was cut off by its outcome still is.
    """
    doc = sample["doc"]
    prompt, response = (as_count(sample.get(name)) for name in COUNTS)
    limit, budget = request_limit(sample), as_count(doc.get("context_budget"))
    if limit is not None:
        budget = (prompt or 0) + limit
    elif prompt is None:
        budget = None
    if None in (response, budget) and _is_cut(sample):
        prompt, response, budget = 0, 1, 1
    return {"prompt_tokens": prompt, "response_tokens": response, "context_budget": budget}


def score_sample(sample: Mapping[str, Any]) -> Score:
    """Return the score of a sample's response, with the tokens, budget and ending that it had."""
    said: Any = {"finish_reason": sample.get("finish_reason"), **_counts_of(sample)}
    return benchmarks.score(read_responses(sample)[0], sample["doc"], **said)


COLUMNS = ("id", "response", "reasoning", *COUNTS, "response_limit", "finish_reason")
"""What is read of a table of responses; the first two it must have."""


class Scored(NamedTuple):
    """What became of some responses.

    Attributes:
        outcomes: How many responses have each outcome.
        errors: How many have each first error, "none" or "not read"; empty if no steps were read.
        changed: How many outcomes differ from those that the samples file held.
        missing: How many puzzles of the dataset have no response.
        out: The file that was written; None for none.
    """

    outcomes: Counter[OutcomeName]
    errors: Counter[str]
    changed: int = 0
    missing: int = 0
    out: Path | None = None


def rescore(
    path: Path, out: Path | str | None = None, *, steps: bool = False, force: bool = False
) -> Scored:
    """Score the responses of a samples file of lm-eval, gzipped or not, again.

    Of samples that stand there once for each filter, the first filter's are taken. Of several
    attempts at a puzzle each is scored, and written as a sample of its own, as `split_attempts`
    makes them. With `out`, a file that ends in .jsonl or a folder for one, the samples with their
    outcomes and first errors are written, whole or not at all; without it, `steps` reads first
    errors too.

    Raises ValueError that names the line which is no sample of ours, and FileExistsError if the
    file to write exists, unless `force`.
    """
    name = path.name.removesuffix(".gz") if SAMPLES_NAME.fullmatch(path.name) else None
    return _score(_attempts(path), out, name, steps=steps, force=force)


def score_responses(
    dataset: Path,
    responses: Sequence[Path],
    out: Path | str | None = None,
    *,
    steps: bool = False,
    force: bool = False,
) -> Scored:
    """Score tables of responses to the puzzles of a dataset.

    `dataset` is a file of puzzles, or a folder with Parquet files of them; `responses` are tables
    (.parquet, .jsonl, .csv) with COLUMNS, or folders of tables. Counts that are no numbers of
    tokens are unknown. `out`, `steps` and `force` are as `rescore` takes them. Raises ValueError
    for ids that are no puzzle's or that two responses have, and for what can't be read.
    """
    from cogniload_gen.tables import find_tables, read_rows  # takes pyarrow

    puzzles, places = _load_puzzles(dataset)
    files = [file for path in responses for file in find_tables(path)]
    rows = (row for file in files for row in read_rows(file, COLUMNS))
    samples = _match(dataset, tqdm(rows, unit=" responses", disable=None), puzzles, places)
    scored = _score(samples, out, steps=steps, force=force)
    if not scored.outcomes:
        raise ValueError(f"{files[0]} must hold at least one response, got none")
    return scored._replace(missing=len(puzzles) - scored.outcomes.total())


def _score(
    samples: Iterable[tuple[str, Sample]],
    out: Path | str | None,
    name: str | None = None,
    *,
    steps: bool,
    force: bool,
) -> Scored:
    """Score samples, each with its place, and write them to `out`; in a folder, to `name`."""
    outcomes: Counter[OutcomeName] = Counter()
    errors: Counter[str] = Counter()
    changed, target, file = 0, None, None
    with ExitStack() as stack:
        for where, sample in samples:
            with naming(where):
                doc, scored = sample["doc"], score_sample(sample)
            if out is not None and file is None:
                target = Path(out)
                if target.suffix != ".jsonl":
                    task = benchmarks.of(doc).name.replace("-", "_")
                    now = f"{datetime.now(UTC):%Y-%m-%dT%H-%M-%S.%f}"
                    target /= name or f"samples_{task}_{now}.jsonl"
                part = stack.enter_context(whole_file(target, force=force))
                file = stack.enter_context(part.open("w", encoding="utf-8"))
            outcomes[scored.outcome] += 1
            changed += sample.get("outcome") not in (None, scored.outcome.value)
            metrics = _metrics_again(sample, scored) if file or steps else {}
            if facts := metrics.get("steps_read"):
                errors[(facts["error"] or "none") if facts["read"] else "not read"] += 1
            if file:
                file.write(json.dumps(_replace_metrics(sample, metrics)) + "\n")
    return Scored(outcomes, errors, changed, out=target)


def _replace_metrics(sample: Sample, metrics: dict[str, Any]) -> Sample:
    """Return a sample with other metrics, all named in its `metrics`.

    What lm-eval's aggregations fit is left out: those metrics are lists that hold the old score.
    """
    listed = sample.get("metrics")
    named = dict.fromkeys([*map(str, listed if isinstance(listed, list) else ()), *metrics])
    fitted = {name for name in named if isinstance(sample.get(name), list)} - metrics.keys()
    kept = {name: value for name, value in sample.items() if name not in fitted}
    replaced = {"filter": "none"} | kept | metrics
    return replaced | {"metrics": [name for name in named if name in replaced]}


def _known_counts(row: Mapping[str, Any], *names: str) -> dict[str, int]:
    counts = {name: as_count(row.get(name)) for name in names}
    return {name: count for name, count in counts.items() if count is not None}


def _attempts(path: Path) -> Iterator[tuple[str, Sample]]:
    """Yield a sample of lm-eval's for each attempt, without counts that are unknown."""
    for where, _, sample in read_samples(path):
        if not {"filtered_resps", "resps"} & sample.keys():
            raise ValueError(f"{where}: no field 'filtered_resps'")
        counts = (*COUNTS, SPENT)
        rest = {name: value for name, value in sample.items() if name not in counts}
        for attempt in split_attempts(rest | _known_counts(sample, *counts)):
            yield where, attempt


def _load_puzzles(path: Path) -> tuple[Any, dict[str, int]]:
    """Return the puzzles of a file, or of all Parquet files of a folder, and their places by id.

    `datasets` keeps them on the disk, in its cache. ValueError for a file that holds no rows with
    ids.
    """
    from datasets import load_dataset

    from cogniload_gen.tables import find_tables

    suffixes = (".parquet",) if path.is_dir() else (".parquet", ".jsonl", ".jsonl.gz")
    files = [*map(str, find_tables(path, suffixes))]
    kind = "parquet" if files[0].endswith(".parquet") else "json"
    try:
        puzzles = load_dataset(kind, data_files=files, split="train")
        places = {str(id): place for place, id in enumerate(puzzles["id"])}
    except Exception as error:  # datasets wraps what went wrong into errors of many kinds
        raise ValueError(f"{path} must hold puzzles: {error.__cause__ or error}") from None
    return puzzles, places


def _match(
    path: Path, rows: Iterable[tuple[str, Sample]], puzzles: Any, places: dict[str, int]
) -> Iterator[tuple[str, Sample]]:
    """Yield the rows of a table of responses as samples of lm-eval, without metrics."""
    answered: set[str] = set()
    for where, row in rows:
        if not {"id", "response"} <= row.keys():
            raise ValueError(f"{where} must have id and response, got {', '.join(row)}")
        id, response = str(row["id"]), as_text(row["response"])
        if id not in places or id in answered:
            owner = "another response" if id in answered else "no puzzle"
            raise ValueError(f"{where}: {owner} in {path} has the id {id!r}")
        answered.add(id)
        doc = puzzles[places[id]]
        sample = {"doc_id": places[id], "doc": doc, "target": doc.get("answer"), "filter": "none"}
        sample |= {"resps": [[response]], "filtered_resps": [response]}
        known = _known_counts(row, *COUNTS)
        sample |= {"metrics": [*known], **known}
        if limit := as_count(row.get("response_limit")):
            sample["arguments"] = {"gen_args_0": {"arg_1": {"max_gen_toks": limit}}}
        texts = {name: row.get(name) for name in ("finish_reason", "reasoning")}
        sample |= {name: text for name, text in texts.items() if text and isinstance(text, str)}
        yield where, sample
