"""The recipes' names, in the vLLM and the lm-eval that are installed."""

import inspect
from dataclasses import fields
from pathlib import Path

import pytest
import yaml
from lm_eval import simple_evaluate
from lm_eval.models.vllm_causallms import VLLM
from vllm import SamplingParams
from vllm.engine.arg_utils import EngineArgs

RECIPES = sorted((Path(__file__).parents[2] / "recipes").glob("*.yaml"))


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: recipe.stem)
def test_names_are_known_and_decoding_reaches_the_engine(recipe):
    written = yaml.safe_load(recipe.read_text(encoding="utf-8"))
    assert set(written) <= set(inspect.signature(simple_evaluate).parameters)
    engine = {field.name for field in fields(EngineArgs)}
    assert set(written["model_args"]) <= set(inspect.signature(VLLM).parameters)
    assert set(written["model_args"]) - {"pretrained"} <= engine
    decoding = written["gen_kwargs"]
    sampling = SamplingParams(**VLLM.modify_gen_kwargs(decoding, eos="<end>")[0])
    assert {name: getattr(sampling, name) for name in decoding} == decoding
