"""One window of tokens for a prompt and its response, whatever model lm-eval evaluates.

The papers give prompt and response 32,768 tokens together (CogniLoad, Appendix D.3). lm-eval has
one `max_gen_toks` for all documents of a task, and where a prompt plus `max_gen_toks` exceeds the
model's window its backends cut the prompt from the left, with a line in the log at most: the
initial state is lost and the score means nothing. So a `SharedBudgetTask` gives each document its
own `max_gen_toks`, what its prompt leaves of its budget, and refuses what can't fit before the run.
"""

import json
import logging
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from lm_eval.api.instance import Instance
from lm_eval.api.metrics import mean
from lm_eval.api.model import LM
from lm_eval.api.task import ConfigurableTask, Task
from lm_eval.models.api_models import JsonChatStr
from tqdm import tqdm

from cogniload_gen.answers.reasoning import CLOSE, OPEN, go_on, without_marks
from cogniload_gen.answers.sample import LIMITS, REASONINGS, SPENT, Sample
from cogniload_gen.benchmark import PREFIX
from cogniload_gen.context_budget import Share, check_fit, response_limit
from cogniload_gen.tokens import estimate
from lm_eval_tasks.answers_file import AnsweringModel
from lm_eval_tasks.lm_eval_private import model_under_evaluation
from lm_eval_tasks.metrics import Fields
from lm_eval_tasks.request_seeds import Key
from lm_eval_tasks.responses import Response, facts_of, keep_facts

log = logging.getLogger(__name__)

# What of a text it would not say twice: so many characters, and the number of its first step.
_BEGINNING = 60
_LABEL = re.compile(r"\W*(?:\w+\s)?(\d+)\b")

# What is counted of a response, besides what the YAML's metrics count.
_COUNTED_BESIDES = ("backend_prompt_tokens", SPENT)


def encode(model: LM, text: str, **special_tokens: bool) -> list[int]:
    """Return the token ids of a text, by the tokenizer of a model that has one."""
    tokens = model.tok_encode(text, **special_tokens)
    if not isinstance(tokens, str):
        return tokens
    # chat-completions models give the text itself back (openai_completions.py)
    return model.tokenizer(text, add_special_tokens=False)["input_ids"]


def count_prompt_tokens(model: LM | None, prompt: str | JsonChatStr) -> int | None:
    """Return the tokens of a prompt as the backend will encode it; None without a tokenizer.

    `prompt` is text, or the messages of a chat that the model's server will render.
    """
    # `tok_encode` comes first: without one, DummyLM's `tokenizer` asks the Hub for another model's
    if model is None or not hasattr(model, "tok_encode"):
        return None
    if getattr(model, "tokenizer", None) is None:
        return None
    if isinstance(prompt, str):
        return len(encode(model, prompt))
    if not getattr(model.tokenizer, "chat_template", None):
        return None
    rendered = model.tokenizer.apply_chat_template(
        json.loads(prompt.prompt), tokenize=False, add_generation_prompt=True
    )
    return len(encode(model, rendered, add_special_tokens=False))


def _estimate_prompt_tokens(prompt: str | JsonChatStr) -> int:
    """Return the tokens of a prompt by its words: within a quarter for both benchmarks' puzzles."""
    if isinstance(prompt, str):
        return estimate(prompt)
    return sum(estimate(message["content"]) for message in json.loads(prompt.prompt))


def share_budget(model: LM | None, request: Instance) -> Share:
    """Return the share of a request, whose document has a `context_budget` of tokens.

    A limit that the request already has (the YAML's or --gen_kwargs') can only lower its own.
    """
    if isinstance(model, AnsweringModel) and (record := model.answers.get(Key.of(request, 0))):
        return Share(*record["share"])
    prompt, generation = request.arguments
    counted = count_prompt_tokens(model, prompt)
    prompt_tokens = _estimate_prompt_tokens(prompt) if counted is None else counted
    limit = response_limit(prompt_tokens, request.doc["context_budget"])
    limits = [int(generation[name]) for name in LIMITS if name in generation]
    return Share(prompt_tokens, min([limit, *limits]), counted is not None)


def limit_response(request: Instance, limit: int) -> None:
    """Make `limit` the one response limit of a request, by the name that all backends take."""
    _, generation = request.arguments
    for name in LIMITS:
        generation.pop(name, None)
    generation["max_gen_toks"] = limit


def context_budget(tasks: Mapping[str, Task]) -> int:
    """Return the largest context_budget of the tasks' documents, in tokens; 0 if none has one."""
    shared = (task.eval_docs for task in tasks.values() if isinstance(task, SharedBudgetTask))
    return max((max(documents["context_budget"]) for documents in shared), default=0)


def check_window(task: str, model: LM | None, requests: Iterable[Instance]) -> None:
    """Raise ValueError if the model's window is below a document's budget: it would be cut."""
    # an API that is sent text, not tokens, lets its server refuse what is too long (api_models.py)
    sent_as_tokens = getattr(model, "tokenized_requests", True)
    window = getattr(model, "max_length", None) if sent_as_tokens else None
    budget = max(request.doc["context_budget"] for request in requests)
    if window is not None and window < budget:
        raise ValueError(
            f"{task}: the model takes {window} tokens and context_budget is {budget}: raise the "
            "model's (max_model_len for vllm, max_length elsewhere) or lower context_budget"
        )


def _check_prompt_read(task: str, share: Share, read: int | None, prompt: str) -> bool:
    """Return whether a server read about as many tokens as a prompt has; warn if it cuts prompts.

    ValueError if the prompt's tokens are counted by the model's tokenizer, and no estimate.
    """
    if read is None or read >= (0.8 if share.counted else 0.65) * share.prompt_tokens:
        return True
    if read == len(prompt.split()):  # it counts words
        return True
    says = (
        f"{task}: the server read {read:,} of the {share.prompt_tokens:,} tokens of a prompt, so "
        "it cuts long prompts silently: raise its context (num_ctx of Ollama, --ctx-size of "
        "llama.cpp, --max-model-len of vLLM)"
    )
    if share.counted:
        raise ValueError(f"{says}, or name the tokenizer that is the model's")
    log.warning("%s", says)
    return False


def continue_from(
    prompt: str | JsonChatStr, prefix: str, generation: dict[str, Any]
) -> str | JsonChatStr:
    """Return a prompt whose response goes on from a text of the model's own, as `spoken`.

    A chat server goes on where `generation`, its settings, have continue_final_message, as vLLM's
    and SGLang's do; add_generation_prompt is set beside it. ValueError for another, and for a text
    that begins with reasoning, which templates of chats leave out.
    """
    takes_it = generation.pop("continue_final_message", False)
    if isinstance(prompt, str):
        return go_on(prompt, prefix)
    if not takes_it or OPEN.match(prefix):
        raise ValueError(
            "a chat server goes on from a text of the model's own only if it takes "
            "continue_final_message=true in --gen_kwargs (vLLM, SGLang), and never from reasoning: "
            "else use its completions and the model's tokenizer, --model local-completions "
            "--model_args model=NAME,base_url=http://HOST:PORT/v1/completions,tokenizer=NAME"
        )
    if not prefix:
        return prompt
    generation |= {"continue_final_message": True, "add_generation_prompt": False}
    messages = [*json.loads(prompt.prompt), {"role": "assistant", "content": prefix}]
    return JsonChatStr(json.dumps(messages, ensure_ascii=False))


def behind(prefix: str, response: str, reasoning: str | None) -> tuple[str, bool]:
    """Return a response behind the text that it goes on from, and whether it does go on from it.

    A server may give the whole back. One that looks for reasoning may file the rest there, although
    the text has none, or has ended its own. A response that is empty then, or that begins as the
    text begins, does not go on from it.
    """
    if reasoning:  # which was split off, without the white space around it
        thinks = not prefix or (OPEN.search(prefix) and not CLOSE.search(prefix))
        rest = f"{reasoning}\n</think>\n\n{response}" if thinks or response.strip() else reasoning
        response = f"{' ' * (not prefix[-1:].isspace())}{rest}"
    begun, said = without_marks(prefix), without_marks(response)
    known, came = ("".join(text.split()) for text in (begun, said))
    if known and came.startswith(known):
        return response.lstrip(), True
    labels = [match and match[1] for match in map(_LABEL.match, (begun, said))]
    again = len(known) > _BEGINNING and came.startswith(known[:_BEGINNING])
    return prefix + response, came != "" and not again and (not labels[0] or len({*labels}) == 2)


class SharedBudgetTask(ConfigurableTask):
    """A task in which each document's prompt and response share its `context_budget` of tokens.

    A document has an `id` and a `context_budget`. The YAML's `process_results` gets it with further
    facts: `prompt_tokens` (the model's own count, else its backend's) and `response_tokens` (the
    backend's, else the model's), None where nobody counts; as `context_budget` its prompt and the
    response limit that it really had, so that a response cut at a limit below the budget is seen as
    cut; and what the backend says: `finish_reason`, `reasoning` and `reasoning_hidden`. To the
    metrics are added `finish_reason`, `backend_prompt_tokens`, which is `prompt_tokens` unless the
    model counts another prompt than the one that its server reads, and of several attempts
    `spent_response_tokens` and `reasonings`. ValueError for a
    document that does not fit, for a model whose window is smaller than the budget, and for
    --cache_requests.
    """

    def __init__(self, config: dict[str, Any]) -> None:
        # lm-eval leaves the YAML's own `class` among the settings (tasks/_factory.py)
        super().__init__(config={key: value for key, value in config.items() if key != "class"})
        self._model: LM | None = None
        self._shares: dict[str, Share] = {}
        self._attempts: dict[str, list[str]] = {}
        self._reads_prompts = True

    def fewshot_docs(self) -> Any:
        """Return the YAML's own examples, or nothing: the puzzles themselves are zero-shot."""
        return self.fewshot_cfg.samples

    def apply_filters(self) -> Any:
        """Filter the responses as lm-eval does, each behind what it went on from."""
        for request in self.instances:
            request.resps[:] = [self._whole(request.doc, text) for text in request.resps]
        return super().apply_filters()

    def _whole(self, doc: dict[str, Any], response: str) -> str:
        """Return a response behind the document's PREFIX; its tokens are those of what came."""
        prefix, facts = doc.get(PREFIX), facts_of(response)
        if prefix is None:
            return response
        tokens = self._count(response, self._shares[doc["id"]].counted)
        counted = replace(
            facts, response_tokens=tokens, reasoning=facts.reasoning._replace(text=None)
        )
        whole, goes_on = behind(prefix, response, facts.reasoning.text)
        if not goes_on:
            says = "does the server go on from the text that it was sent? Else no repair is told"
            log.warning("%s: responses are empty or begin anew: %s", self.config.task, says)
        return Response(whole, counted)

    def build_all_requests(self, *, cache_requests: bool = False, **settings: Any) -> None:
        """Build the requests as lm-eval does, then give each its response limit."""
        task = self.config.task
        if cache_requests:
            raise ValueError(
                f"{task}: --cache_requests is refused: its key leaves out the puzzles' parameters "
                "and the budget, so it would bring back the prompts of another run"
            )
        if (count := self.config.num_fewshot) and not self.fewshot_cfg.samples:
            raise ValueError(
                f"{task}: --num_fewshot {count} is refused: without fewshot_config.samples in its "
                "YAML, a task is zero-shot"
            )
        super().build_all_requests(**settings)
        self._model = model_under_evaluation()
        self._attempts = {request.doc["id"]: request.resps for request in self.instances}
        keep_facts(self._model)
        asked = getattr(self._model, "inner", self._model) is not None
        for request in self.instances:
            prefix = request.doc.get(PREFIX)
            if asked and prefix is not None:
                prompt, generation = request.arguments
                request.arguments = continue_from(prompt, prefix, generation), generation
        check_window(task, self._model, self.instances)
        self._shares = {
            request.doc["id"]: share_budget(self._model, request)
            for request in tqdm(self.instances, desc="Counting prompt tokens")
        }
        if asked and not all(share.counted for share in self._shares.values()):
            log.warning(
                "%s: the model has no tokenizer to count with, or of a chat none with a template: "
                "prompts are estimated by their words, and samples have no token counts of ours. "
                "An API model takes one by --model_args tokenizer_backend=huggingface,"
                "tokenizer=NAME",
                task,
            )
        check_fit(task, [request.doc for request in self.instances], self._shares)
        for request in self.instances:
            limit_response(request, self._shares[request.doc["id"]].response_limit)

    def process_results(self, doc: dict[str, Any], results: list[str]) -> dict[str, Any]:
        """Return the YAML's, of the document with its counts, and what the backend says."""
        share, facts = self._shares[doc["id"]], facts_of(results[0])
        attempts = (results[0], *self._attempts[doc["id"]][1:])
        tokens = [self._count(response, share.counted) for response in attempts]
        known = [count for count in tokens if count is not None]
        thoughts = [facts_of(response).reasoning.text for response in attempts]
        metrics = {
            "finish_reason": facts.finish_reason,
            "served_by": facts.served_by,
            "backend_prompt_tokens": facts.prompt_tokens,
            SPENT: sum(known) if 1 < len(known) == len(tokens) else None,
            REASONINGS: thoughts if any(thoughts[1:]) else None,
        }
        reported = {name: fact for name, fact in metrics.items() if fact is not None}
        told = doc | replace(facts, response_tokens=tokens[0]).columns(share)
        fields = super().process_results(told, results) | reported
        return Fields(fields, self.aggregation(), of_twin="~" in doc["id"])

    def describe(self, request: Instance, response: str) -> dict[str, Any]:
        """Return what the disk keeps of a response: its counts, its score, and its share.

        Its steps are read as well, while others are under way, so that the scoring finds them read.
        ValueError for a server that read less than the prompt, if the model's tokenizer counts it.
        """
        doc, facts = request.doc, facts_of(response)
        share = self._shares[doc["id"]]
        if self._reads_prompts:
            given = self.config.task, share, facts.prompt_tokens, str(self.doc_to_text(doc))
            self._reads_prompts = _check_prompt_read(*given)
        counted = replace(facts, response_tokens=self._count(response, share.counted))
        return self.record(self._whole(doc, response), doc | counted.columns(share)) | {
            "backend_prompt_tokens": facts.prompt_tokens,
            "share": [share.prompt_tokens, share.response_limit, share.counted],
        }

    def record(self, response: str, row: Mapping[str, Any]) -> dict[str, Any]:
        """Return what the disk keeps of a response to a puzzle with its counts."""
        sample = Sample.from_answer(response, row)
        sample.metrics  # noqa: B018  (`step_metrics` knows them from then on)
        return sample.record()

    def _count(self, response: str, counted: bool) -> int | None:
        """Return the tokens of a response, by its backend, or by the model if that can count."""
        tokens = facts_of(response).response_tokens
        if tokens is not None or not counted:
            return tokens
        text = f"{facts_of(response).reasoning.text or ''}{response}"
        text = text.encode(errors="replace").decode()  # half of an emoji is none to a tokenizer
        return len(encode(self._model, text, add_special_tokens=False))

    def aggregation(self) -> dict[str, Any]:
        """Return the YAML's, and that of what a backend counts."""
        return super().aggregation() | dict.fromkeys(_COUNTED_BESIDES, mean)

    def higher_is_better(self) -> dict[str, Any]:
        """Return the YAML's; what a backend counts is neither."""
        return super().higher_is_better() | dict.fromkeys(_COUNTED_BESIDES)
