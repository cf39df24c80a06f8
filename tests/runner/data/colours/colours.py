"""A data set of another's task."""

from datasets import Dataset


def make(**_):
    things = ["socks", "hair", "gloves", "shirt", "hat", "Fred", "Mary"]
    return {"test": Dataset.from_list([{"thing": t, "index": i % 3} for i, t in enumerate(things)])}
