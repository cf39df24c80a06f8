"""The studies: what they import is there, and results.txt has their tables."""

import runpy

import pytest
from harness import random_state_put_back
from source_tree import ROOT
from stored import cases

FILES = sorted(ROOT.glob("studies/*.py"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_it_finds_what_it_imports(file):
    with random_state_put_back():  # a library may seed its generators when it is imported
        runpy.run_path(str(file))


@pytest.mark.parametrize(("study", "table", "few", "runs", "labels"), cases(__file__)["studies"])
def test_a_study_prints_its_table(study, table, few, runs, labels, capsys):
    """Few runs of each row agree with the shares in results.txt, within four standard errors."""
    program = runpy.run_path(str(ROOT / f"studies/{study}.py"))
    program["print_table"](program[table](few))
    printed = capsys.readouterr().out.strip().splitlines()
    lines = (ROOT / "studies/results.txt").read_text("utf-8").splitlines()
    place = lines.index(printed[0])
    assert lines[place + len(printed)] == ""
    few, many = ([line[2:-2].split(" | ") for line in rows] for rows in (printed, lines[place:]))
    for mine, row in zip(few[2:], many[2:], strict=False):
        assert mine[:labels] == row[:labels]
        for head, *cells in list(zip(few[0], mine, row, strict=True))[labels:]:
            if "bias" not in head:
                found, share = (float(cell.removesuffix(" %")) / 100 for cell in cells)
                assert abs(found - share) <= 4 * (share * (1 - share) / runs) ** 0.5
