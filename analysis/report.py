"""The last stage: one report that people read, with its tables and figures beside it."""

import re
from collections.abc import Iterable
from pathlib import Path

import pandas as pd
from jinja2 import Environment, PackageLoader, StrictUndefined

from cogniload_analysis import tables
from cogniload_analysis.cogniload_report import report_cogniload
from cogniload_analysis.factor_report import report_factor
from cogniload_analysis.page import Part
from cogniload_analysis.read import COGNILOAD, FACTOR, read_benchmarks

REPORTERS = {COGNILOAD.name: report_cogniload, FACTOR.name: report_factor}
# How a report's page links to the files beside it.
LINK = re.compile(r'href="((?:tables|figures)/[\w.-]+\.(?:csv|tex|svg|pdf))"', re.ASCII)


def write_report(
    paths: str | Path | Iterable[str | Path],
    out: str | Path,
    *,
    force: bool = False,
    all_runs: bool = False,
) -> Path:
    """Write `report.html`, `tables/` and `figures/` into `out` and return the report's path.

    `paths` and `all_runs` are as for `read_samples`; the report has a part for each benchmark that
    they hold. Files are written whole, and the report last. With `force`, files are overwritten,
    and those to which an earlier report links are removed where this one has none of their name.
    Raises FileExistsError where a file would be overwritten otherwise; ValueError and
    FileNotFoundError as `read_samples`.
    """
    out = Path(out)
    page = out / "report.html"
    if not force:
        refuse_overwriting([page])
    files = build_report(read_benchmarks(paths, all_runs=all_runs))
    targets = {out / name: content for name, content in files.items()}
    if not force:
        refuse_overwriting(targets)
    earlier = LINK.findall(page.read_text("utf-8", errors="replace")) if page.is_file() else []
    for target, content in targets.items():
        write_whole(target, content)
    for name in set(earlier) - set(files):
        (out / name).unlink(missing_ok=True)
    return page


def build_report(frames: dict[str, pd.DataFrame]) -> dict[str, bytes]:
    """Return the content of each file of the report on the frames of `read_benchmarks`, by name."""
    parts = [REPORTERS[name](frame) for name, frame in frames.items()]
    files = {}
    for part in parts:
        files[f"tables/{part.cells_name}.csv"] = part.cells.to_csv(index=False)
        for name, table in part.tables.items():
            files[f"tables/{name}.csv"] = table.data.to_csv(index=False)
            files[f"tables/{name}.tex"] = tables.to_latex(table.shown, table.caption, name)
    files = {name: text.encode() for name, text in files.items()}
    for part in parts:
        for name, picture in part.pictures.items():
            files[f"figures/{name}.svg"] = picture.svg
            files[f"figures/{name}.pdf"] = picture.pdf
    return files | {"report.html": render_page(parts).encode()}


def render_page(parts: list[Part]) -> str:
    """Return `report.html`, with everything in it that it shows."""
    environment = Environment(
        loader=PackageLoader("cogniload_analysis"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("report.html").render(parts=parts)


def refuse_overwriting(targets: Iterable[Path]) -> None:
    """Raise FileExistsError if one of the files exists."""
    existing = [target for target in targets if target.exists()]
    if existing:
        raise FileExistsError(
            f"{existing[0]} exists: name another folder, or allow overwriting with --force"
        )


def write_whole(target: Path, content: bytes) -> None:
    """Write a file so that no reader ever finds a part of it."""
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = target.with_name(f".{target.name}.part")
    try:
        temporary.write_bytes(content)
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)
