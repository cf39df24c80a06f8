"""The rooms of the house (CONTRIBUTING.md): who may import whom, and who may name a benchmark."""

import ast
import re
import sys
from graphlib import CycleError, TopologicalSorter
from itertools import chain

import pytest
from source_tree import PROJECT, Import, imports, modules

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

COMMANDS = "cogniload_gen.commands"
"""The package of the command line, whose commands may import from every room."""

FOLDERS = {benchmark.dataset for benchmark in BENCHMARKS}
"""In each room, a benchmark has the folder of its dataset's name."""

FRONT_DOORS = {
    "cogniload_gen": "the public names of both benchmarks",
    "cogniload_gen.benchmarks": "the list of benchmarks",
    "cogniload_analysis": "the public names of both benchmarks",
    "cogniload_analysis.analyses": "the list of analyses",
    "cogniload_analysis.designs": "the list of adaptive designs",
}
"""The modules outside a benchmark's folders that import from one, and why."""

GENERATORS = {
    "generate", "simulate", "render", "table", "filler", "forest", "symbolic", "realistic",
    "dependencies", "noise", "training", "draws", "source", "hub", "overlap", "push", "write",
    "shards", "rewards", "commands", "generate_puzzles", "generate_factor",
}  # fmt: skip
"""Modules and functions of cogniload_gen that make puzzles or publish them."""

PACKAGES = {"pyyaml": "yaml", "lm-eval": "lm_eval", "huggingface-hub": "huggingface_hub"}
"""What is imported under another name than it is installed."""

IMPORTED_IF_THERE = {
    ("cogniload_gen.tokens", "transformers"): "only for a tokenizer given by its name",
    ("cogniload_gen.files.run_folder", "msgspec"): "read with the extras analysis and eval alone",
    ("cogniload_gen.factor.retrieval", "bm25s"): "an extra of its own, for one retriever",
    ("cogniload_gen.factor.retrieval", "sentence_transformers"): "the same, for encoders",
    ("cogniload_analysis.report.inspect_view", "inspect_ai"): "an extra, for `cogniload view`",
}
"""Imports of packages that the room does not install, and why."""


def room(module: str) -> str:
    """Return the room that a module is in."""
    return module.partition(".")[0]


def folder(module: str) -> str:
    """Return the folder of a module; root modules and packages' own modules stand alone."""
    parent, _, _ = module.rpartition(".")
    is_package = any(other.startswith(f"{module}.") for other in modules())
    return module if is_package or "." not in parent else f"{parent}.*"


def benchmark_folder(module: str) -> str | None:
    """Return the benchmark whose folder a module is in; None outside of those."""
    return next((part for part in module.split(".")[1:2] if part in FOLDERS), None)


def inner_imports(module: str) -> list[Import]:
    """Return a module's imports of the project's own modules."""
    return [each for each in imports(module) if each.module in modules()]


@pytest.mark.parametrize("module", modules())
def test_rooms_import_one_way(module):
    used = {room(each.module) for each in inner_imports(module)} - {room(module)}
    assert module.startswith(f"{COMMANDS}.") or used <= ROOMS[room(module)]


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


@pytest.mark.parametrize("place", [str, folder], ids=["modules", "folders"])
def test_imports_make_no_circle(place):
    graph: dict[str, set[str]] = {}
    for module in modules():
        used = {place(each.module) for each in inner_imports(module)}
        graph.setdefault(place(module), set()).update(used - {place(module)})
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
    extras = PROJECT["optional-dependencies"]
    names = {
        "cogniload_analysis": ["analysis"],
        "inspect_tasks": ["inspect", "analysis"],
        "reasoning_gym_tasks": ["reasoning-gym"],
        "verifiers_tasks": ["verifiers"],
        "lm_eval_tasks": ["eval", "analysis"],
    }.get(room, [])
    lists = [PROJECT["dependencies"], *(extras[name] for name in names)]
    packages = {re.match(r"[\w-]*", line)[0].lower() for line in chain.from_iterable(lists)}
    return {PACKAGES.get(name, name.replace("-", "_")) for name in packages}


def test_a_room_imports_what_it_is_installed_with():
    # lm-eval brings what it drives API models with, Inspect what it writes on a terminal with, and
    # verifiers what its configurations and its clients are made of.
    brought = {
        "lm_eval_tasks": {"aiohttp", "requests", "tenacity", "yarl"},
        "inspect_tasks": {"rich"},
        "verifiers_tasks": {"httpx", "pydantic"},
    }
    others = {
        (module, room(each.module))
        for module in modules()
        for each in imports(module)
        if room(each.module)
        not in {
            *ROOMS,
            *sys.stdlib_module_names,
            *installed_with(room(module)),
            *brought.get(room(module), ()),
        }
    }
    assert others == IMPORTED_IF_THERE.keys()


NAMES = {
    name for each in BENCHMARKS for name in (each.name, each.suite, each.dataset, each.title)
} - {None}
"""What benchmarks are called."""


def constants(node: ast.AST) -> set[object]:
    """Return the constants in an expression."""
    return {each.value for each in ast.walk(node) if isinstance(each, ast.Constant)}


def names_benchmark(node: ast.AST) -> bool:
    """Return whether an expression compares with, or chooses by, a benchmark's name."""
    match node:
        case ast.Compare() | ast.MatchValue():
            return bool(constants(node) & NAMES)
        case ast.Call(ast.Attribute(_, "startswith" | "endswith")):
            return bool(constants(node) & NAMES)
        case ast.Dict(keys):
            return any(constants(key) & NAMES for key in keys if key is not None)
    return False


BRANCHES = [
    'row["suite"] == "symbolic"',
    'name in ("cogniload", "other")',
    'task.startswith("factor")',
    '{"cogniload": 1, "factor": 2}[name]',
    'match name:\n    case "cogniload":\n        pass',
]
OTHERS = ['load_dataset("cogniload")', 'row["suite"] == suite', '{"rho": rho}']


def test_a_branch_on_a_benchmark_is_seen():
    for source in BRANCHES + OTHERS:
        seen = any(map(names_benchmark, ast.walk(ast.parse(source))))
        assert seen == (source in BRANCHES), source


def test_only_a_benchmarks_own_folder_asks_which_benchmark_it_is():
    for module, tree in modules().items():
        if benchmark_folder(module) is None:
            branches = [ast.unparse(node) for node in ast.walk(tree) if names_benchmark(node)]
            assert not branches, module


def test_the_shared_command_line_names_no_benchmark():
    for module, tree in modules().items():
        if module.startswith(COMMANDS):
            texts = [text for text in constants(tree) if isinstance(text, str)]
            own = [text for text in texts if re.search("CogniLoad|FACTOR", text)]
            assert not own, module
