"""The rooms of the house (CONTRIBUTING.md): who may import whom, and who may name a benchmark."""

import ast
import re
import sys
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter

import pytest
from source_tree import SETUP, Import, imports, modules

from cogniload_gen.benchmarks import BENCHMARKS

ROOMS = {
    "cogniload_gen": set(),
    "cogniload_dataset": {"cogniload_gen"},
    "cogniload_analysis": {"cogniload_gen"},
    "lm_eval_tasks": {"cogniload_gen", "cogniload_analysis"},
    "inspect_tasks": {"cogniload_gen", "cogniload_analysis"},
    "reasoning_gym_tasks": {"cogniload_gen"},
    "verifiers_tasks": {"cogniload_gen"},
}
"""The rooms that each room may import."""

COMPOSITION_ROOT = "cogniload_gen.cli"
"""The one module that may import from every room."""

COMMAND = "cogniload_gen.__main__"
"""The one module that runs it."""

FOLDERS = {each.dataset for each in BENCHMARKS}
"""In each room, a benchmark has the folder of its dataset's name."""

FRONT_DOORS = {
    "cogniload_gen": "the public names of both benchmarks",
    "cogniload_gen.benchmarks": "the list of benchmarks",
    "cogniload_gen.arguments": "what `cogniload retrieve`, which is of FACTOR, takes",
    "cogniload_gen.cli": "`cogniload import` and `score --release` read the release of CogniLoad",
    "cogniload_analysis": "the public names of both benchmarks",
    "cogniload_analysis.analyses": "the list of analyses",
    "cogniload_analysis.designs": "the list of adaptive designs",
}
"""The modules outside a benchmark's folders that import from one, and why."""

NOT_BRANCHES = {
    ("cogniload_gen.arguments", "'suite' in asked"): "asks which options were given, no more",
    (
        "cogniload_analysis.samples.inspect_logs",
        "held.get('target')",
    ): "Inspect's word for any answer",
    (
        "cogniload_analysis.report.inspect_view",
        "sample.get('target', puzzle.get('answer', ''))",
    ): "the same, in lm-eval's samples",
    (
        "cogniload_analysis.samples.read",
        "puzzle.get('options')",
    ): "chance, of any puzzle that offers some",
    ("cogniload_gen.arguments", "asked.get('suite')"): "looks the suite up in the list by its name",
}
"""What looks like a branch on a benchmark outside its folders, and why it is none."""

GENERATORS = {
    "generate", "simulate", "render", "table", "filler", "forest", "symbolic", "realistic",
    "dependencies", "noise", "training", "draws", "source", "hub", "overlap", "push", "write",
    "shards", "rewards", "arguments", "cli", "generate_puzzles", "generate_factor",
}  # fmt: skip
"""Modules and functions of cogniload_gen that make puzzles or publish them."""

PACKAGES = {"pyyaml": "yaml", "lm-eval": "lm_eval", "huggingface-hub": "huggingface_hub"}
"""What is imported under another name than it is installed."""

IMPORTED_IF_THERE = {
    ("cogniload_gen.tokens", "transformers"): "only for a tokenizer given by its name",
    ("cogniload_gen.files.run_folder", "msgspec"): "read with the extras analysis and eval alone",
    ("cogniload_gen.factor.retrieval", "bm25s"): "an extra of its own, for one retriever",
    ("cogniload_gen.factor.retrieval", "sentence_transformers"): "the same, for encoders",
    (
        "cogniload_analysis.report.inspect_view",
        "inspect_ai",
    ): "an extra of its own, for `cogniload view`",
}
"""Imports of packages that the room does not install, and why."""


def room(module: str) -> str:
    """Return the room that a module is in."""
    return module.partition(".")[0]


def benchmark_folder(module: str) -> str | None:
    """Return the benchmark whose folder a module is in; None outside of those."""
    return next((part for part in module.split(".")[1:2] if part in FOLDERS), None)


def inner_imports(module: str) -> list[Import]:
    """Return a module's imports of the project's own modules."""
    return [each for each in imports(module) if each.module in modules()]


@pytest.mark.parametrize("module", modules())
def test_rooms_import_one_way(module):
    used = {room(each.module) for each in inner_imports(module)} - {room(module)}
    assert module == COMPOSITION_ROOT or used <= ROOMS[room(module)]


def test_nothing_imports_the_composition_root():
    users = {each for each in modules() if COMPOSITION_ROOT in {i.module for i in imports(each)}}
    assert users == {COMMAND}


def test_the_analysis_imports_records_and_scorers_but_no_generator():
    for module in modules():
        if room(module) == "cogniload_analysis":
            for each in inner_imports(module):
                if room(each.module) == "cogniload_gen":
                    assert not {*each.module.split("."), each.name} & GENERATORS, (module, each)


def test_the_tasks_know_the_analysis_by_its_public_names():
    for module in modules():
        if room(module) in {"lm_eval_tasks", "inspect_tasks"}:
            for each in inner_imports(module):
                assert room(each.module) != "cogniload_analysis" or "." not in each.module, module


def test_no_modules_import_each_other_in_a_circle():
    graph = {name: {each.module for each in inner_imports(name)} - {name} for name in modules()}
    try:
        tuple(TopologicalSorter(graph).static_order())
    except CycleError as error:
        pytest.fail("each of these imports the one before: " + ", ".join(error.args[1]))


def test_benchmarks_do_not_import_each_other():
    for module in modules():
        for each in inner_imports(module):
            folders = {benchmark_folder(module), benchmark_folder(each.module)} - {None}
            assert len(folders) < 2, f"{module} imports {each.module}"


def test_only_front_doors_import_from_a_benchmarks_folder():
    importers = {
        module
        for module in modules()
        if benchmark_folder(module) is None
        and any(benchmark_folder(each.module) for each in inner_imports(module))
    }
    assert importers == FRONT_DOORS.keys()


def installed_with(room: str) -> set[str]:
    """Return the packages that a room is installed with, as they are imported."""
    wanted = SETUP["options"]["install_requires"]
    extras = SETUP["options.extras_require"]
    wanted += {"cogniload_analysis": extras["analysis"]}.get(room, "")
    wanted += {
        "inspect_tasks": extras["inspect"] + extras["analysis"],
        "reasoning_gym_tasks": extras["reasoning-gym"],
        "verifiers_tasks": extras["verifiers"],
    }.get(room, "")
    wanted += {"lm_eval_tasks": extras["eval"] + extras["analysis"]}.get(room, "")
    names = {re.match(r"[\w-]*", line)[0].lower() for line in wanted.splitlines() if line}
    return {PACKAGES.get(name, name.replace("-", "_")) for name in names}


def test_a_room_imports_what_it_is_installed_with():
    # lm-eval brings what it drives API models with, Inspect what it writes on a terminal with, and
    # verifiers what its configurations and its clients are made of.
    brought = {
        "lm_eval_tasks": {"aiohttp", "requests", "tenacity", "yarl"},
        "inspect_tasks": {"rich"},
        "verifiers_tasks": {"httpx", "pydantic"},
    }
    found = set()
    for module in modules():
        of_room = installed_with(room(module)) | brought.get(room(module), set())
        for each in imports(module):
            package = room(each.module)
            if package not in {*ROOMS, *sys.stdlib_module_names, *of_room}:
                found.add((module, package))
    assert found == IMPORTED_IF_THERE.keys()


NAMES = {name for each in BENCHMARKS for name in (each.name, each.suite, each.dataset)} - {None}
"""What benchmarks are called."""

OF_EACH = [set(each.source(each.select()).schema.names) for each in BENCHMARKS]

COLUMNS = set.union(*OF_EACH) - set.intersection(*OF_EACH)
"""Columns that the puzzles of some benchmarks have and those of others lack."""


def constants(node: ast.expr) -> set[object]:
    """Return the constants of an expression that is one, or that displays several."""
    displayed = node.elts if isinstance(node, ast.Tuple | ast.List | ast.Set) else [node]
    return {each.value for each in displayed if isinstance(each, ast.Constant)}


def is_branch(node: ast.AST) -> bool:
    """Tell whether an expression asks which benchmark something belongs to.

    It compares with a benchmark's name, looks for a column that only some benchmarks have, or
    chooses by a benchmark's name from a dictionary.
    """
    asked: set[object] = set()
    match node:
        case ast.Compare(left, [ast.In() | ast.NotIn()], [right]):
            asked = constants(left) & (NAMES | COLUMNS) | constants(right) & NAMES
        case ast.Compare(left, _, rights):
            asked = set.union(*map(constants, (left, *rights))) & NAMES
        case ast.Call(ast.Name("hasattr" | "getattr"), [_, name, *_]):
            asked = constants(name) & COLUMNS
        case ast.Call(ast.Attribute(_, "get"), [name, *_]):
            asked = constants(name) & COLUMNS
        case ast.Call(ast.Attribute(_, "startswith" | "endswith"), [text]):
            asked = constants(text) & NAMES
        case ast.MatchValue(ast.Constant(value)):
            asked = {value} & NAMES
        case ast.Dict(keys):
            asked = set().union(*(constants(key) for key in keys if key is not None)) & NAMES
    return bool(asked)


def branches(tree: ast.AST) -> Iterator[str]:
    """Yield the source of each branch on a benchmark."""
    return (ast.unparse(node) for node in ast.walk(tree) if is_branch(node))


@pytest.mark.parametrize(
    "source",
    [
        'row["suite"] == "symbolic"',
        '"suite" in doc',
        '"rho" not in doc',
        'hasattr(row, "rho")',
        'name in ("cogniload", "other")',
        'task.startswith("factor")',
        'row.get("target")',
        '{"cogniload": 1, "factor": 2}[name]',
        'match name:\n    case "cogniload":\n        pass',
    ],
)
def test_a_branch_on_a_benchmark_is_seen(source):
    assert list(branches(ast.parse(source)))


@pytest.mark.parametrize(
    "source", ['load_dataset("cogniload")', 'row["suite"] == suite', 'row["N"]', '{"rho": rho}']
)
def test_what_is_no_branch_is_let_through(source):
    assert not list(branches(ast.parse(source)))


def test_only_a_benchmarks_own_folder_asks_which_benchmark_it_is():
    found = {
        (module, branch)
        for module, tree in modules().items()
        if benchmark_folder(module) is None and module != "cogniload_gen.benchmarks"
        for branch in branches(tree)
    }
    assert found == NOT_BRANCHES.keys()
