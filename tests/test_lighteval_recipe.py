"""The recipe for lighteval, which is not installed here: what it takes of ours is there."""

import ast
from importlib import import_module

from source_tree import ROOT

from cogniload_gen import benchmarks
from cogniload_gen.configurations import configuration_of

RECIPE = (ROOT / "recipes" / "lighteval" / "cogniload.py").read_text("utf-8")


def test_it_is_short_and_what_it_imports_of_ours_is_there():
    assert len(RECIPE.splitlines()) < 80
    found = [
        (node.module, each.name)
        for node in ast.walk(ast.parse(RECIPE))
        if isinstance(node, ast.ImportFrom) and node.module.startswith("cogniload")
        for each in node.names
    ]
    assert len(found) == 2
    for module, name in found:
        assert hasattr(import_module(module), name)


def test_the_name_of_a_configuration_tells_its_benchmark_as_it_reads_it():
    for benchmark in benchmarks.BENCHMARKS:
        name = configuration_of(benchmark.select(num_puzzles=1)).name
        assert benchmarks.named(name.partition("-v")[0]) is benchmark
