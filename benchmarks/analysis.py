"""How long 22 models on the paper's grid take.

Writes 22 result folders of lm-eval with 14,000 responses each, reads them, fits every GLM, makes
the tables, and writes the report; then the same for FACTOR's 7 models of Tables 2 and 3, with 1,950
responses a context. On two cores, with seconds by stage and the peak memory.
"""

import json
import tempfile
from pathlib import Path

from lm_eval_layout import make_samples, write_factor_runs, write_run
from machine import machine, timed

from cogniload_analysis import (
    compare_rho_terms,
    fit_interactions,
    published_table,
    read_factor_samples,
    read_samples,
)
from cogniload_analysis.cogniload import tables
from cogniload_analysis.cogniload.analysis import COGNILOAD
from cogniload_analysis.cogniload.fits.glm import TERMS, fit_soundly
from cogniload_analysis.display.print import accuracy_table, cell_table
from cogniload_analysis.factor import tables as factor_tables
from cogniload_analysis.report.write import build_report, write_files

PUZZLES, WORDS = 100, 140


def main() -> None:
    print(machine(2))
    published = published_table("glm")
    with tempfile.TemporaryDirectory() as folder:
        with timed("write 22 result folders"):
            for number, model in published.iterrows():
                samples = make_samples(model[list(TERMS)], PUZZLES, number, words=WORDS)
                write_run(folder, model["model"], samples)
        files = sorted(Path(folder).rglob("samples_*"))
        size = sum(file.stat().st_size for file in files)
        print(f"{len(files)} files of {size / len(files) / 1e6:.0f} MB")
        with timed("everything but the writing"):
            with timed("read"):
                frame = read_samples(folder)
            print(f"{len(frame):,} responses, {size / len(frame) / 1e3:.1f} KB a line")
            responses = dict(iter(frame.groupby("model", observed=True)))
            with timed("fit: main, AIC, interactions"):
                glms = {model: fit_soundly(rows) for model, rows in responses.items()}
                for rows in responses.values():
                    compare_rho_terms(rows)
                    fit_interactions(rows)
            with timed("tables"):
                made = [tables.glm_table(glms), tables.threshold_table(glms)]
                made += [cell_table(frame, COGNILOAD.loads), accuracy_table(frame, "rho")]
                made += [tables.outcome_table(frame, "d"), tables.outcome_table(frame, "N")]
                made += [tables.token_table(frame)]
            with timed("report, with fits and tables"):
                write_files(Path(folder) / "out", build_report({"CogniLoad": frame}))
        print(f"report.html: {(Path(folder) / 'out/report.html').stat().st_size / 1e6:.1f} MB")
        with timed("of the reading, plain json"):
            for file in files:
                with file.open("rb") as lines:
                    for line in lines:
                        json.loads(line)
    measure_factor()


def measure_factor() -> None:
    """FACTOR's stages, on its seven models with long contexts."""
    with tempfile.TemporaryDirectory() as folder:
        for model, rows in published_table("factor_by_context").groupby("model"):
            decays = {("symbolic", row.context): (row.CDF, row.CDO) for row in rows.itertuples()}
            write_factor_runs(folder, model, decays, puzzles=50)
        with timed("FACTOR: read"):
            frame = read_factor_samples(folder)
        print(f"{len(frame):,} responses")
        with timed("FACTOR: fits"):
            factor_tables.mode_table(factor_tables.decay_table(factor_tables.fit_decays(frame)))
        with timed("FACTOR: report"):
            build_report({"FACTOR": frame})


if __name__ == "__main__":
    main()
