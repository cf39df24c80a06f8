"""The last stage: one report that people read, with its tables and figures beside it."""

import logging
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import pandas as pd
from tqdm import tqdm

from cogniload_analysis import analyses
from cogniload_analysis.analysis import Analysis
from cogniload_analysis.display.page import MOST_SAID, Section, Verdict
from cogniload_analysis.display.tables import to_csv
from cogniload_analysis.report.part import Part, build_part
from cogniload_analysis.samples.read import Paths, read_benchmarks, read_conversations
from cogniload_analysis.words import say
from cogniload_gen.files import EXISTS, whole_file

log = logging.getLogger(__name__)

PAGE = "report.html"
# What holds the names of a set of files while it is written: a killed command leaves it.
_MARK = ".written.part"

# How a report's page links to the files beside it.
LINK = re.compile(r'href="((?:tables|figures)/[\w.-]+\.(?:csv|tex|txt|json|bib|svg|pdf))"', re.A)


def write_report(
    paths: Paths,
    out: str | Path,
    *,
    force: bool = False,
    among: Sequence[Analysis] | None = None,
    price: tuple[float, float] | None = None,
    pdf: bool = False,
    say: Callable[[str], object] = lambda line: None,
) -> Path:
    """Write `report.html`, `tables/` and `figures/` into `out` and return the report's path.

    `say` gets the lines of the verdict. `price` is that of a million tokens of prompts and of
    responses; with it, the report says what each run cost. With `pdf`, each figure is a PDF too,
    which takes longer. `paths` and `among` are as for `read_benchmarks`; the report has a part for
    each benchmark that they hold. Files are written as by `write_files`, and the report last. With
    `force`, files are overwritten: an earlier report goes first, and then what it links to where
    this one has none of its name. Raises FileExistsError where a file would be overwritten
    otherwise; ValueError and FileNotFoundError as `read_benchmarks`.
    """
    page = Path(out) / PAGE
    if page.exists() and not force and PAGE not in _left_names(page.parent):
        raise FileExistsError(EXISTS.format(page))
    among = analyses.ANALYSES if among is None else among
    parts = _read_parts(paths, among, price)
    made = build_report(parts, pdf=pdf)
    earlier = LINK.findall(page.read_text("utf-8", errors="replace")) if page.is_file() else []
    if force:
        page.unlink(missing_ok=True)
    write_files(page.parent, made, force=force)
    for name in set(earlier) - set(made):
        (page.parent / name).unlink(missing_ok=True)
    for line in _say_verdicts(parts):
        say(line)
    return page


def say_results(paths: Paths) -> list[str]:
    """Return the lines of the verdict that a report on results has, without writing one.

    Raises ValueError and FileNotFoundError as `read_benchmarks`.
    """
    among = analyses.ANALYSES
    return _say_verdicts(_read_parts(paths, among))


def _read_parts(
    paths: Paths, among: Sequence[Analysis], price: tuple[float, float] | None = None
) -> list[Part]:
    """Return the parts of the report on results; conversations turn by turn stand first in one."""
    spoken = {each: each.say_conversations(read_conversations(paths, each)) for each in among}
    frames = read_benchmarks(paths, among, spoken=any(spoken.values()))
    parts = {part.analysis: part for part in build_parts(frames, among, price)}
    run = Section("What was run", [say("conversations")], "what-was-run", folded=True)
    for each in filter(spoken.get, spoken):
        part = parts.get(each, Part(each, "", [], [run]))
        parts[each] = replace(part, sections=[*spoken[each], *part.sections])
    return [*parts.values()]


def _say_verdicts(parts: Sequence[Part]) -> list[str]:
    return [line for part in parts for line in (*summarise(part.verdicts), *part.better)]


def summarise(verdicts: Sequence[Verdict]) -> list[str]:
    """Return the lines that a terminal shows: all of two verdicts, and the headlines of more."""
    lines = []
    for verdict in verdicts:
        lines.append(f"{verdict.name}: {verdict.headline}")
        lines += [f"  {sentence}" for sentence in verdict.paragraphs if len(verdicts) <= MOST_SAID]
    return lines


def build_parts(
    frames: Mapping[str, pd.DataFrame],
    among: Sequence[Analysis] | None = None,
    price: tuple[float, float] | None = None,
) -> list[Part]:
    """Return the parts of the report on the frames of `read_benchmarks`; log their warnings."""
    from threadpoolctl import threadpool_limits  # fits and comparisons alone need none

    by_name = {analysis.name: analysis for analysis in among or analyses.ANALYSES}
    # Its matrices are small: further threads would only wait for one another.
    with threadpool_limits(1):
        parts = [build_part(by_name[name], frame, price, frames) for name, frame in frames.items()]
    for part in parts:
        for warning in part.warnings:
            # a model has the same name in each part
            log.warning("%s%s", f"{part.analysis.name}, " if len(parts) > 1 else "", warning)
    return parts


def build_report(parts: Sequence[Part], *, pdf: bool = False) -> dict[str, bytes]:
    """Return the content of each file of the report, by name; with `pdf`, a PDF of each figure."""
    # matplotlib takes long to load, and comparing runs needs none
    from cogniload_analysis.display import drawing

    made: dict[str, bytes] = {}
    for part in parts:
        made[f"tables/{part.analysis.prefix}cells.csv"] = to_csv(part.cells)
        made |= part.citation.files if part.citation else {}
        for name, table in part.tables.items():
            made[f"tables/{name}.csv"] = to_csv(table.data)
            made[f"tables/{name}.tex"] = table.to_latex().encode()
    figures = {name: figure for part in parts for name, figure in part.figures.items()}
    pictures = {}
    for name, figure in tqdm(figures.items(), "drawing", unit="figure", disable=None):
        pictures[name] = drawing.render(figure, pdf=pdf)
        made[f"figures/{name}.svg"] = pictures[name].svg
        if whole := pictures[name].pdf:
            made[f"figures/{name}.pdf"] = whole
    return made | {PAGE: _render_page(parts, pictures).encode()}


def _render_page(parts: Sequence[Part], pictures: Mapping[str, Any]) -> str:
    """Return `report.html`, with everything in it that it shows."""
    from jinja2 import Environment, PackageLoader, StrictUndefined  # as drawing, above

    environment = Environment(
        loader=PackageLoader("cogniload_analysis.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    script = files("cogniload_analysis.report").joinpath("templates/script.js").read_text("utf-8")
    page = environment.get_template(PAGE)
    # `shown` grows: what the page has shown is left out further down
    return page.render(parts=parts, pictures=pictures, script=script, shown=set())


def write_files(out: Path, files: Mapping[str, bytes], *, force: bool = False) -> None:
    """Write files into a folder, each so that no reader ever finds a part of it.

    The same call replaces what it left when it was killed. Raises FileExistsError, and writes
    nothing, where another file exists, unless `force`.
    """
    left = _left_names(out)
    for target in (out / name for name in files if name not in left):
        if target.exists() and not force:
            raise FileExistsError(EXISTS.format(target))
    with whole_file(out / _MARK, force=True) as temporary:
        temporary.write_text("\n".join(sorted({*left, *files})), "utf-8")
    for name, content in files.items():
        with whole_file(out / name, force=True) as temporary:
            temporary.write_bytes(content)
    (out / _MARK).unlink()


def _left_names(out: Path) -> set[str]:
    """Return the names of the files that a killed `write_files` was to write into a folder."""
    mark = out / _MARK
    return {*mark.read_text("utf-8").splitlines()} if mark.is_file() else set()
