"""The wheel, built from a clean clone and installed where the repository is not in sight."""

import os
import re
import sys
import venv
import zipfile
from pathlib import Path

import pytest
from command_line import run, run_python
from source_tree import ROOT

import cogniload_gen
from cogniload_gen import __version__


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    """Built from the files that git would put into a clone."""
    folder = tmp_path_factory.mktemp("package")
    clone = folder / "clone"
    tracked = run("git", "ls-files", "--cached", "--others", "--exclude-standard", cwd=ROOT)
    for name in tracked.splitlines():
        if (ROOT / name).is_file():
            (clone / name).parent.mkdir(parents=True, exist_ok=True)
            (clone / name).write_bytes((ROOT / name).read_bytes())
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "."]
    run(*command, "--wheel-dir", folder, cwd=clone)
    (built,) = folder.glob("*.whl")
    return built


def test_no_pattern_repeats_a_group_possessively():
    """Python before 3.11.5 reads on from within a group that has failed."""
    for path in [*ROOT.glob("cogniload_gen/**/*.py"), *ROOT.glob("cogniload_gen/**/*.toml")]:
        found = re.search(r"\)(?:[?*+]|\{[0-9,{}]+\})\+", path.read_text("utf-8"))
        assert not found, (path, found)


def test_the_wheel_holds_every_file_of_the_packages(wheel):
    with zipfile.ZipFile(wheel) as archive:
        held = {name for name in archive.namelist() if ".dist-info/" not in name}
    expected = {"cogniload_cli.py", "cogniload_dataset.py"}
    tasks = ("lm_eval_tasks", "inspect_tasks", "reasoning_gym_tasks", "verifiers_tasks")
    for package in ("cogniload_gen", "analysis/cogniload_analysis", *tasks):
        files = [path for path in (ROOT / package).rglob("*") if path.is_file()]
        files = [path for path in files if "__pycache__" not in path.parts]
        expected |= {str(path.relative_to((ROOT / package).parent)) for path in files}
    assert held == expected
    assert __version__ in wheel.name


def test_the_wheel_works_without_the_repository(wheel, tmp_path):
    """What it needs of others comes from this environment; of ours, nothing but the wheel."""
    venv.create(tmp_path / "venv")
    python = tmp_path / "venv" / "bin" / "python"
    pip = (sys.executable, "-m", "pip", "--python", python)
    run(*pip, "install", "--quiet", "--no-deps", "--no-compile", wheel)
    (site,) = (tmp_path / "venv" / "lib").glob("python3.*/site-packages")
    others = [path for path in sys.path if path.endswith("site-packages")]
    (site / "others.pth").write_text("\n".join(others))  # .pth: editable finders are not followed
    work = tmp_path / "work"
    work.mkdir()
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    options = {"cwd": work, "env": environment}

    program = "import cogniload_gen, cogniload_analysis, lm_eval_tasks, cogniload_dataset as c\n"
    program += "print(cogniload_gen.__file__, cogniload_analysis.__file__, c.__file__)\n"
    program += "print(len(c.load_dataset('cogniload', d=3, N=5, rho=50, split='test')))"
    *_, where, rows = run(python, "-c", program, **options).splitlines()
    assert where.count(str(site)) == 3
    assert str(site) not in cogniload_gen.__file__
    assert rows == "100"

    cogniload = site.parents[2] / "bin" / "cogniload"
    small = ("--d", "3", "--N", "5", "--rho", "50", "--num-puzzles", "2")
    run(cogniload, "generate", "a.jsonl", *small, **options)
    tasks = run(cogniload, "tasks", **options).strip()
    assert tasks == str(site / "lm_eval_tasks")
    command = (python, "-m", "lm_eval", "run", "--include_path", tasks, "--model", "dummy")
    assert "ECL50" in run(*command, "--tasks", "cogniload_mini", "--limit", "27", **options)


HARNESSES = ("inspect_ai", "lm_eval", "reasoning_gym", "torch", "transformers", "trl", "verifiers")


def test_the_base_works_where_no_extra_is_installed():
    """It makes, solves, scores and rewards puzzles, and streams them."""
    code = f"""
import sys
sys.modules |= dict.fromkeys({HARNESSES!r})
import cogniload_dataset, cogniload_gen
row = cogniload_gen.generate_puzzles(3, 5, 50, num_puzzles=1).to_pylist()[0]
answer = cogniload_gen.solve(row["puzzle"])
assert cogniload_gen.score(answer, row).correct
assert cogniload_gen.rewards.answer_score(answer, row) == 1
"""
    run_python(code)
