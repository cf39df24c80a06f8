"""The rooms of the house: who may import whom, and who may name a benchmark."""

import ast
from graphlib import CycleError, TopologicalSorter

import pytest
from source_tree import imports, modules

from cogniload_gen.benchmarks import BENCHMARKS

ROOMS = {
    "cogniload_gen": set(),
    "cogniload_dataset": {"cogniload_gen"},
    "cogniload_analysis": {"cogniload_gen"},
    "lm_eval_tasks": {"cogniload_gen", "cogniload_analysis"},
    "inspect_tasks": {"cogniload_gen", "cogniload_analysis"},
    "reasoning_gym_tasks": {"cogniload_gen"},
    "verifiers_tasks": {"cogniload_gen"},
    "cogniload_cli": {"cogniload_gen", "cogniload_analysis", "lm_eval_tasks"},
}
"""The rooms that each room may import; nothing imports the roof, `cogniload_cli`."""

FOLDERS = {benchmark.dataset for benchmark in BENCHMARKS}
"""In each room, a benchmark has the folder of its dataset's name."""

LISTS = {
    *("cogniload_gen", "cogniload_gen.benchmarks"),
    *("cogniload_analysis", "cogniload_analysis.analyses"),
    "cogniload_cli",
}
"""The modules outside a benchmark's folders that import from one: the lists of them."""

NAMES = {name for each in BENCHMARKS for name in (each.name, each.suite, each.dataset, each.title)}


def room(module):
    return module.partition(".")[0]


def benchmark_folder(module):
    """Return the benchmark whose folder a module is in; None outside of those."""
    return next((part for part in module.split(".")[1:2] if part in FOLDERS), None)


def inner_imports(module):
    """Return the modules of the project that a module imports."""
    return {each.module for each in imports(module) if each.module in modules()}


@pytest.mark.parametrize("module", modules())
def test_no_import_runs_up(module):
    assert {*map(room, inner_imports(module))} <= ROOMS[room(module)] | {room(module)}


def test_imports_make_no_circle():
    graph = {module: inner_imports(module) - {module} for module in modules()}
    try:
        tuple(TopologicalSorter(graph).static_order())
    except CycleError as error:
        pytest.fail("each of these imports the one before: " + ", ".join(error.args[1]))


def test_a_benchmarks_folder_is_imported_by_the_lists_of_benchmarks_alone():
    for module in modules():
        others = {*map(benchmark_folder, inner_imports(module))} - {None, benchmark_folder(module)}
        assert not others or module in LISTS, module


def asks_which(node):
    """Tell whether an expression compares with, or chooses by, a benchmark's name."""
    match node:
        case ast.Dict(keys):
            parts = [key for key in keys if key is not None]
        case ast.Compare() | ast.MatchValue() | ast.Call(ast.Attribute(_, "startswith")):
            parts = [node]
        case _:
            return False
    texts = {each.value for part in parts for each in ast.walk(part) if hasattr(each, "value")}
    return bool(NAMES & {text for text in texts if isinstance(text, str)})


def test_only_a_benchmarks_own_folder_asks_which_benchmark_it_is():
    assert any(map(asks_which, ast.walk(ast.parse('row["suite"] == "symbolic"'))))
    for module, tree in modules().items():
        if benchmark_folder(module) is None:
            assert not [ast.unparse(node) for node in ast.walk(tree) if asks_which(node)], module
