"""What limited a response, whoever tells it; and the warning where a limit did too often."""

import logging
import math
from html import unescape
from io import BytesIO

import pandas as pd
import pytest
from lm_eval_layout import make_puzzle, make_sample, make_samples, write_run
from stored import cases

from cogniload_analysis import read_samples
from cogniload_analysis.cogniload.analysis import COGNILOAD
from cogniload_analysis.display.tables import table as make_table
from cogniload_analysis.report.part import run_table
from cogniload_analysis.report.write import build_parts, build_report
from cogniload_analysis.samples.stop_reasons import (
    describe_ending,
    ending_table,
    warn_of_limits,
)
from cogniload_gen.answers import Sample

CASES = cases(__file__)


def sample(limit=None, reason=None, outcome="wrong_logic", index=0, **counts):
    made = make_sample(make_puzzle(1, 20, 5, index), "Text.", outcome, **counts)
    if limit is not None:
        made["arguments"]["gen_args_0"]["arg_1"]["max_gen_toks"] = limit
    return made | ({} if reason is None else {"finish_reason": reason})


@pytest.mark.parametrize(("about", "prompt", "response", "ending"), CASES["endings"])
def test_an_ending_follows_from_the_reason_or_the_counts(about, prompt, response, ending):
    counts = {"prompt_tokens": prompt, "response_tokens": response}
    how = describe_ending(Sample.from_lm_eval(sample(**about, **counts)))
    assert (how["cut_by"] or how["ending"]) == ending
    assert (how["ending"] == "cut") == bool(how["cut_by"])


def test_the_table_counts_and_warns_above_a_tenth(undrawn, tmp_path, caplog):
    counts = {"prompt_tokens": 300}
    cut = [sample(64, response_tokens=64, index=index, **counts) for index in range(2)]
    whole = [
        sample(64, outcome="correct_valid", response_tokens=9, index=index, **counts)
        for index in range(2, 36)
    ]
    write_run(tmp_path, "m/cut", [*cut, *whole[:17], sample(index=40)])
    write_run(tmp_path, "m/fine", [cut[0], *whole])
    frame = read_samples(tmp_path)
    table = ending_table(frame).set_index("model")
    row = [17, 2, 0, 0, 0, 1, 2 / 19, 2 / 19, 17 / 18, 0, 20]
    assert table.loc["m/cut"].tolist() == row
    (warning,) = warn_of_limits(table.reset_index())
    assert warning.startswith("m/cut: 10.5 % of")
    with caplog.at_level(logging.WARNING):
        page = build_report(build_parts({"CogniLoad": frame}))["report.html"].decode()
    assert [each for each in caplog.messages if "output limit" in each] == [
        warning.removeprefix("m/")
    ]
    assert caplog.messages[-1] in unescape(page)
    held = {"model": "m", "ending": "unknown", "cut_by": "", "reasoning_hidden": ""}
    unknown = pd.DataFrame([held | {"acc_uncut": 0.0}])
    assert "Overflow [%]" not in make_table("endings", ending_table(unknown)).shown


def test_a_model_that_runs_elsewhere_or_nowhere_has_no_device(tmp_path):
    """lm-eval records the default of --device, whatever the model."""
    elsewhere, here = ("dummy", "local-chat-completions"), ("hf", "huggingface", "openvino")
    for model in (*elsewhere, *here):
        write_run(tmp_path, model, [sample()], config={"model": model, "device": "cuda:0"})
    runs = run_table(read_samples(tmp_path), COGNILOAD.loads).set_index("model")
    devices = dict.fromkeys(elsewhere, "") | dict.fromkeys(here, "cuda:0")
    assert runs["device"].to_dict() == devices


def test_the_table_of_runs_says_how_the_model_was_run(tmp_path):
    how, told = CASES["how_a_model_ran"]
    write_run(tmp_path, "m", [sample()], **how)
    row = run_table(read_samples(tmp_path), COGNILOAD.loads).iloc[0]
    assert row[[*told]].to_dict() == told


def test_much_overflow_bounds_both_scores_and_little_does_not(undrawn, tmp_path):
    """As if all that was cut were wrong, and as if it were right."""
    cut_of = {}
    for model, every in (("much", 4), ("little", 90)):
        held = [*make_samples([11, -0.35, -4, -3.2, 2.75], 6, 3)]
        for number, each in enumerate(held):
            each["finish_reason"] = "stop"
            if number % every == 0:
                each |= {"finish_reason": "length", "outcome": "wrong_max_context", "acc": 0.0}
        cut_of[model] = -(-len(held) // every) / len(held)
        write_run(tmp_path, model, held)
    frame = read_samples(tmp_path)
    assert frame["acc_uncut"].isna().equals(frame["ending"] == "cut")
    parts = build_parts({"CogniLoad": frame})
    pages = build_report(parts)
    overview = pd.read_csv(BytesIO(pages["tables/overview.csv"])).set_index("model")
    for model, row in overview.iterrows():
        assert row["cut_share"] == pytest.approx(cut_of[model])
        assert row["acc_least"] == row["accuracy"]
        assert row["acc_most"] == pytest.approx(row["accuracy"] + cut_of[model])
        assert row["acc_uncut"] == pytest.approx(row["accuracy"] / (1 - cut_of[model]))
    assert overview.loc["much", "ECL50_most"] > 1.3 * overview.loc["much", "ECL50"]
    assert math.isnan(overview.loc["little", "ECL50_most"])
    page = unescape(pages["report.html"].decode())
    assert page.count("If all that were cut were right, it would solve") == 2  # also to be cited
    assert "ECL50, bounds" in page
