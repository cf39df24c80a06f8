"""How long 14,000 responses take on their way into Inspect's viewer and back.

Writes a results folder of lm-eval with the paper's grid, 2 KB a response; from it the log that
`cogniload view` writes; reads that by Inspect itself and as the report does; and holds the report
from the log against that from the samples. With processor seconds by stage and the peak memory.
"""

import tempfile
from functools import partial
from pathlib import Path

import pandas as pd
from inspect_ai.log import read_eval_log, read_eval_log_sample
from lm_eval_layout import make_samples, write_run
from machine import machine, timed

from cogniload_analysis import published_table
from cogniload_analysis.analyses import ANALYSES
from cogniload_analysis.cogniload.fits.glm import TERMS
from cogniload_analysis.report.inspect_view import write_logs
from cogniload_analysis.report.write import build_report
from cogniload_analysis.samples.read import read_benchmarks

PUZZLES, WORDS = 100, 140


stage = partial(timed, clock="processor")


def main() -> None:
    print(machine())
    model = published_table("glm").set_index("model").loc["Qwen3-8B", list(TERMS)]
    with tempfile.TemporaryDirectory() as folder:
        results, logs = Path(folder) / "results", Path(folder) / "logs"
        write_run(results, "Qwen3-8B", make_samples(model, PUZZLES, 1, words=WORDS))
        with stage("read the samples"):
            of_samples = read_benchmarks(results, ANALYSES)
        with stage("cogniload view"):
            (log,) = write_logs([results], logs)
        (samples,) = results.rglob("samples_*")
        sizes = [file.stat().st_size / 1e6 for file in (samples, log)]
        print("samples {:.0f} MB, log {:.0f} MB".format(*sizes))
        with stage("read the log"):
            of_log = read_benchmarks(logs, ANALYSES)
        for name, frame in of_samples.items():
            places = ["file", "offset"]
            pd.testing.assert_frame_equal(
                of_log[name].drop(columns=places), frame.drop(columns=places)
            )
        with stage("two reports"):
            assert build_report(of_log) == build_report(of_samples)
        with stage("Inspect: the header"):
            header = read_eval_log(str(log), header_only=True)
        assert header.results.total_samples == len(of_samples["CogniLoad"])
        with stage("Inspect: one sample"):
            read_eval_log_sample(str(log), header.eval.dataset.sample_ids[-1])
        with stage("Inspect: all samples"):
            whole = read_eval_log(str(log))
        assert len(whole.samples) == header.results.total_samples


if __name__ == "__main__":
    main()
