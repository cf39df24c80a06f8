"""A multiple-choice task of lm-eval's kind that is none of ours: its YAML and its code."""

MULTIPLE_CHOICE = """
task: colours
custom_dataset: !function colours.make
output_type: multiple_choice
test_split: test
doc_to_text: "What colour is {{thing}}?"
doc_to_choice: [green, white, blue]
doc_to_target: "{{index}}"
metric_list: [{metric: acc}, {metric: acc_norm}]
"""

COLOURS = """
from datasets import Dataset

def make(**_):
    things = ["socks", "hair", "gloves", "shirt", "hat", "Fred", "Mary"]
    return {"test": Dataset.from_list([{"thing": t, "index": i % 3} for i, t in enumerate(things)])}
"""
