"""Which answer a request is for, and the seed that it is sent with."""

import json
from collections.abc import Sequence
from copy import copy
from typing import NamedTuple

from lm_eval.api.instance import Instance
from lm_eval.api.model import LM
from lm_eval.utils import handle_non_serializable, hash_string

from cogniload_gen.draws import address_key


class Key(NamedTuple):
    """Which answer it is: of a task's document (its id, else its hash), request and attempt."""

    task: str
    document: str
    request: int
    attempt: int

    @classmethod
    def of(cls, request: Instance, attempt: int) -> "Key":
        """Return the key of an attempt at a request of lm-eval."""
        document = request.doc.get("id") if isinstance(request.doc, dict) else None
        if document is None:  # lm-eval numbers the documents of each shard anew
            document = hash_string(json.dumps(request.doc, default=handle_non_serializable))
        return cls(str(request.task_name), str(document), request.idx, attempt)

    def seed(self, run: object) -> int:
        """Return the seed of this attempt at this document in a run, from 0 to 2^31 - 1."""
        return address_key("request", str(run), self.document, self.request, self.attempt) >> 33


def seeded(model: LM, requests: Sequence[Instance], seeds: Sequence[int]) -> list[Instance]:
    """Return requests for texts with a seed each, for backends that take one.

    lm-eval sends one seed with all requests of a run, so that a server which honours it answers a
    prompt that is repeated with the same text. Its API models for other servers than OpenAI's,
    Hugging Face's models, and vLLM on the CPU take none: the draws of the second begin at the first
    seed.
    """
    kind = type(model)
    if seeds and kind.__module__ == "lm_eval.models.huggingface":
        import torch

        torch.manual_seed(seeds[0])
    create = getattr(kind, "_create_payload", None)
    of_openai = getattr(create, "__module__", "") == "lm_eval.models.openai_completions"
    in_vllm = kind.__module__ == "lm_eval.models.vllm_causallms"
    if in_vllm:  # whose sampler on the CPU breaks at a request's seed, and draws on from the run's
        from vllm.platforms import current_platform

        in_vllm = not current_platform.is_cpu()
    if not seeds or not (of_openai or in_vllm):
        return [*requests]
    sent = [copy(request) for request in requests]
    for request, seed in zip(sent, seeds, strict=True):
        prompt, settings, *others = request.args
        request.arguments = (prompt, {**settings, "seed": seed}, *others)
    return sent
