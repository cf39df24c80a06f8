"""Recipes on the engines of clusters: `make test-clusters` runs these."""

from importlib.util import find_spec

HERE = all(find_spec(engine) for engine in ("datatrove", "ray"))

collect_ignore_glob = [] if HERE else ["test_*.py"]
