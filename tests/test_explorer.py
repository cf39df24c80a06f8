"""The explorer: its views against the traces of 200 puzzles, and its page in a real browser."""

import json
import os
import socket
import subprocess
import sys
import time
from operator import itemgetter
from urllib.parse import urlencode

import pytest
from lxml import etree

from cogniload_gen import generate_factor, generate_puzzles
from cogniload_gen.benchmarks import read_steps, score
from cogniload_gen.cogniload.explore import list_statements, list_states
from cogniload_gen.cogniload.steps.planted import trace_key, write_trace
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
    home = str(tmp_path_factory.mktemp("home"))
    environment = os.environ | {"GRADIO_ANALYTICS_ENABLED": "False", "HOME": home}
    environment |= dict.fromkeys(["no_proxy", "NO_PROXY"], "localhost,127.0.0.1")
    for _ in range(9):  # another program may take the port before the server does
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        command = [sys.executable, "-u", "-m", "cogniload_gen", "explore", "--port", str(port)]
        running = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
        if any(f":{port}" in line for line in running.stdout):
            break
    assert running.poll() is None
    yield f"http://127.0.0.1:{port}"
    running.terminate()
    running.communicate()


LIBRARY = """
const shown = [...document.querySelectorAll('label')].filter(label => label.offsetParent);
const box = label => shown.find(one => one.innerText.trim().startsWith(label))
  ?.querySelector('textarea');
const slider = label => document.querySelector(`input[aria-label="number input for ${label}"]`);
const put = (input, value) => { input.value = value;
  for (const name of ['input', 'change', 'blur'])
    input.dispatchEvent(new Event(name, {bubbles: true})); };
const button = label => [...document.querySelectorAll('button')]
  .find(one => one.offsetParent && one.innerText === label);
const texts = (selector, within = document) => [...within.querySelectorAll(selector)]
  .map(one => one.innerText);
const table = () => [texts('[role=columnheader] .text'),
  ...[...document.querySelectorAll('[role=row]')].slice(1)
    .map(row => texts('[data-testid^=cell]', row))];
const marked = () => [...document.querySelectorAll('.textfield .text, .textfield .line-break')]
  .map(one => one.matches('.line-break') ? ['\\n', null]
    : [one.textContent, one.parentElement.querySelector('.label')?.textContent ?? null]);
"""
"""What the tests read and do on the page, in JavaScript."""


def wait_until(browser, expression, wanted=True):
    """Wait until an expression on the page is what is wanted, within half an hour."""
    for _ in range(18_000):
        value = browser.evaluate(f"(() => {{ {LIBRARY} return {expression}; }})()")
        if value == wanted:
            return
        time.sleep(0.1)
    raise AssertionError(f"{expression}: {value!r}, not {wanted!r}")


def marks_of(response, row):
    """Return the marked texts of a response, by what the package says of it."""
    scored, steps = score(response, row), read_steps(response, row)
    places = [("decides the score", *scored.evidence)] if scored.evidence else []
    if steps.read and steps.error != "answer" and steps.place is not None:
        places.append(("first error", steps.place, (response + "\n").index("\n", steps.place)))
    return [[response[first:last], name] for name, first, last in sorted(places, key=itemgetter(1))]


def test_a_link_opens_the_tab_of_its_benchmark_with_the_graph(server, browser):
    row = make_row("factor", N=5, context=0, index=3)
    browser.command("Page.navigate", url=f"{server}/?dataset=factor&N=5&context=0&index=3")
    wait_until(browser, "box('The puzzle')?.value", row["puzzle"])
    drawn = sorted(etree.fromstring(draw_graph(row)).xpath("//*[local-name()='text']/text()"))
    wait_until(
        browser,
        "[...document.querySelectorAll('svg[role=img] text')].filter("
        "one => one.getClientRects().length).map(one => one.textContent).sort()",
        drawn,
    )


@pytest.mark.parametrize("index", range(int(os.environ.get("EXPLORED", "3"))))
def test_the_page_agrees_with_the_package_and_a_response_runs_nothing(server, browser, index):
    address = {"d": 1 + index % 12, "N": 4 + 7 * index % 40, "rho": 1 + 37 * index % 100}
    row = make_row("cogniload", **address, index=index)
    hostile = "<img src=x onerror='window.hit = 1'><script>window.hit = 2</script>\n"
    response = hostile + write_trace(row["puzzle"], trace_key(row["id"])).response
    after = 1 + index % row["N"]
    query = urlencode({"dataset": "cogniload"} | address | {"index": index})
    browser.command("Page.navigate", url=f"{server}/?{query}")
    wait_until(browser, "box('The puzzle')?.value", row["puzzle"])
    wait_until(browser, "table()", list_states(row, 0))
    applied = "slider('Statements that have been applied')"
    wait_until(
        browser,
        f"{applied}.value == {after} ? table() : put({applied}, {after})",
        list_states(row, after),
    )
    wait_until(browser, "box('This statement').value", list_statements(row)[after])
    wait_until(browser, f"put(box('A response'), {json.dumps(response)})", None)
    wait_until(browser, "button('Score it').click()", None)
    wait_until(browser, "box('Score')?.value", judge(response, row)[0])
    wait_until(browser, "marked().filter(([, name]) => name)", marks_of(response, row))
    wait_until(browser, "marked().map(([text]) => text).join('')", response)
    assert browser.evaluate("window.hit") is None
