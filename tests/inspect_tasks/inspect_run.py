"""Inspect's own evaluations, of a model that is a function of the messages."""

from harness import random_state_put_back
from inspect_ai import eval as inspect_eval
from inspect_ai.model import ContentReasoning, ContentText, ModelOutput, ModelUsage, get_model


def output(text, reasoning=None, *, counts=(9, 9), stop="stop"):
    """Return what a model says, with the tokens of prompt and response: of none, Inspect asks."""
    said = ModelOutput.from_content("mockllm", text, stop_reason=stop)
    if reasoning:
        parts = [ContentReasoning(reasoning=reasoning), ContentText(text=text)]
        said.choices[0].message.content = parts
    said.usage = ModelUsage(input_tokens=counts[0], output_tokens=counts[1])
    return said


async def count_words(text):
    """Return a count of tokens without Inspect's own tokenizer, which is downloaded."""
    return len(text.split())


def evaluate(task, folder, answer, **settings):
    """Return the log of a task, whose outputs are `answer(messages)`."""
    outputs = {"custom_outputs": lambda messages, *_: answer(messages)}
    model = get_model("mockllm/model", memoize=False, **outputs)
    model.api.count_text_tokens = count_words
    with random_state_put_back():
        (log,) = inspect_eval(task, model=model, log_dir=str(folder), display="none", **settings)
    assert log.status == "success", log.error
    return log
