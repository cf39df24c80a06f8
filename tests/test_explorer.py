"""The explorer: its views against the traces of 200 puzzles, and its page in a real browser."""

import json
import os
import socket
import subprocess
import sys
import time

import pytest
from browser import Browser
from lxml import etree

from cogniload_gen import generate_factor, generate_puzzles
from cogniload_gen.benchmarks import read_steps, score
from cogniload_gen.cogniload.explore import list_statements, list_states
from cogniload_gen.explorer.judge import judge, make_row
from cogniload_gen.factor.explore import draw_graph

PUZZLES = generate_puzzles([1, 2, 4, 7, 12], [3, 12], [20, 80], num_puzzles=10, trace=True)


@pytest.mark.parametrize("row", PUZZLES.to_pylist(), ids=lambda row: row["id"])
def test_states_and_statements_are_those_of_the_trace(row):
    statements = list_statements(row)
    assert "\n".join(statements) in row["puzzle"]
    assert len(statements) == row["N"] + 1
    after = len(row["id"]) * row["index"] % (row["N"] + 1)
    _, *people = list_states(row, after)
    assert people[0][0] == f"→ {row['poi']}"
    assert {name.removeprefix("→ ") for name, *_ in people} == set(row["people"])
    final = list_states(row, row["N"])
    asked = final[0].index(row["category"].replace("_", " "))
    assert final[1][asked].rstrip("*") == row["answer"]
    assert not any("*" in value for _, *values in list_states(row, 0)[1:] for value in values)
    changed = {name for name, *values in people if any("*" in value for value in values)}
    if after == 0:
        assert not changed


@pytest.mark.parametrize("suite", ["symbolic", "realistic"])
def test_the_graph_holds_every_variable_with_its_value(suite):
    knob = {"N": [1, 9, 20]} if suite == "symbolic" else {"op": [2, 8, 15]}
    for row in generate_factor(suite=suite, context=0, num_puzzles=3, **knob).to_pylist():
        picture = etree.fromstring(draw_graph(row))
        texts = picture.xpath("//*[local-name()='text']/text()")
        values = dict(text.rsplit(" = ", 1) for text in texts)
        asked = picture.xpath("//*[@stroke='#d55e00']/following-sibling::*[1]/text()")
        if suite == "symbolic":
            assert len(values) == row["N"]
            assert sorted(text.split(" = ")[0] for text in asked) == (
                [] if row["answer"] == "none" else sorted(row["answer"].split(", "))
            )
        else:
            assert [text.rsplit(" = ", 1)[1] for text in asked] == [row["answer"]]


def test_a_response_is_judged_as_the_package_judges_it_and_shown_whole():
    row = PUZZLES.slice(85, 1).to_pylist()[0]
    for response in ("", row["answer"], f"1. It doesn't apply.\n{row['poi']}: {row['answer']}"):
        said, marked = judge(response, row)
        assert "".join(text for text, _ in marked) == response
        scored, steps = score(response, row), read_steps(response, row)
        assert said.startswith(("Wrong", "Right")[scored.correct])
        assert ("could not be read" in said) == (not steps.read)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """The address of `cogniload explore`, served until the tests end."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    home = str(tmp_path_factory.mktemp("home"))
    environment = os.environ | {"GRADIO_ANALYTICS_ENABLED": "False", "HOME": home}
    command = [sys.executable, "-u", "-m", "cogniload_gen", "explore", "--port", str(port)]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    assert any(f":{port}" in line for line in running.stdout)
    yield f"http://127.0.0.1:{port}"
    running.terminate()
    running.communicate()


def wait_until(browser, expression):
    """Return the value of an expression on the page, once it is true."""
    for _ in range(18_000):
        if value := browser.evaluate(expression):
            return value
        time.sleep(0.1)
    raise AssertionError(f"never true: {expression}")


def box(label):
    """Return the expression of the text box under a label."""
    return (
        "[...document.querySelectorAll('label')].filter(l => l.offsetParent && "
        f"l.innerText.trim().startsWith({json.dumps(label)}))[0]?.querySelector('textarea')"
    )


def test_the_page_shows_a_link_s_puzzle_its_states_and_an_inert_response(server, tmp_path):
    row = make_row("cogniload", d=3, N=12, rho=40, index=2)
    with Browser(tmp_path / "profile") as browser:
        browser.command("Page.navigate", url=f"{server}/?dataset=cogniload&d=3&N=12&rho=40&index=2")
        start = json.dumps(row["puzzle"][:300])
        wait_until(browser, f"{box('The puzzle')}?.value.startsWith({start})")
        assert browser.evaluate(f"{box('The puzzle')}.value") == row["puzzle"]
        cells = [cell for person in list_states(row, 0)[1:] for cell in person]
        shown = "document.body.innerText.includes(cell)"
        wait_until(browser, f"{json.dumps(cells)}.every(cell => {shown})")
        hostile = f"<img src=x onerror='window.hit = 1'> {row['poi']} has {row['answer']} hair."
        browser.evaluate(
            f"(() => {{ const area = {box('A response')}; area.value = {json.dumps(hostile)}; "
            "area.dispatchEvent(new Event('input', {bubbles: true})); })()"
        )
        browser.evaluate(
            "[...document.querySelectorAll('button')]"
            ".filter(b => b.offsetParent && b.innerText === 'Score it')[0].click()"
        )
        said, _ = judge(hostile, row)
        wait_until(browser, f"{box('Score')}?.value.startsWith({json.dumps(said[:20])})")
        assert browser.evaluate(f"{box('Score')}.value") == said
        wait_until(browser, "document.body.innerText.includes('onerror')")
        assert browser.evaluate("window.hit") is None
