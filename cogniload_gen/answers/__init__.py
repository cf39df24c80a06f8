"""What a model said, whoever asked it: responses, their reasoning, how they ended, their scores."""

from cogniload_gen.answers.sample import Sample

__all__ = ["Sample"]
