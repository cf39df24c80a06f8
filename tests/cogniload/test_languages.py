"""The same puzzles in other languages: solved from their text, and scored by their words."""

import hashlib
import re
from itertools import pairwise

import pytest
from stored import cases

from cogniload_gen import generate_puzzles, read_steps, score, score_response
from cogniload_gen.benchmarks import named
from cogniload_gen.cogniload.ontology import LANGUAGES
from cogniload_gen.cogniload.render import forms_of, sentences_of, template_of
from cogniload_gen.cogniload.solve import solve_steps
from cogniload_gen.grid import language_of, other_language
from cogniload_gen.hub.card import dataset_card
from cogniload_gen.rewards import answer_score, step_score
from cogniload_gen.shards import configuration_of, read_entry
from cogniload_gen.task_puzzles import make_puzzles

KNOWN = cases(__file__, "languages.toml")
GRID = {"d": range(1, 13), "N": [3, 20], "rho": [10, 60], "num_puzzles": 10}
OTHERS = LANGUAGES[1:]


@pytest.fixture(scope="module")
def english():
    return generate_puzzles(**GRID, trace=True).to_pylist()


@pytest.fixture(scope="module")
def translated():
    made = {}

    def rows(language):
        if language not in made:
            made[language] = generate_puzzles(**GRID, trace=True, language=language).to_pylist()
        return made[language]

    return rows


@pytest.mark.parametrize("language", OTHERS)
def test_golden_hash(language):
    """Change a puzzle, and GENERATOR_VERSION and this hash change with it."""
    table = generate_puzzles([1, 5, 12], [1, 20], [5, 60], 3, language=language, trace=True)
    digest = hashlib.sha256(repr(table.to_pylist()).encode()).hexdigest()
    assert digest == KNOWN[language]["golden"]


@pytest.mark.parametrize("language", OTHERS)
def test_the_solver_reads_answer_and_states(translated, language):
    for row in translated(language):
        solution = solve_steps(row["puzzle"])
        assert (solution.answer, solution.poi) == (row["answer"], row["poi"])
        assert solution.category == row["category"]
        states = [dict(zip(row["categories"], state, strict=True)) for state in row["poi_states"]]
        assert [state[row["poi"]] for state in solution.states[1:]] == states
        first = [dict(zip(row["categories"], state, strict=True)) for state in row["initial_state"]]
        assert solution.states[0] == dict(zip(row["people"], first, strict=True))
        for statement, read in zip(row["statements"], solution.statements, strict=True):
            for name, settings in zip(("conditions", "updates"), read, strict=True):
                assert {s["category"]: s["value"] for s in statement[name]} == settings


def values_of(row):
    """Every value of a row's trace with its category, in order."""
    for category, domain in zip(row["categories"], row["domains"], strict=True):
        yield from ((category, value) for value in domain)
    for state in (*row["initial_state"], *row["poi_states"]):
        yield from zip(row["categories"], state, strict=True)
    for statement in row["statements"]:
        for setting in (*statement["conditions"], *statement["updates"]):
            yield setting["category"], setting["value"]
    yield row["category"], row["answer"]
    yield from ((row["category"], value) for value in row["options"])


@pytest.mark.parametrize("language", OTHERS)
def test_draws_are_those_of_the_english_puzzle_and_values_have_one_word_each(
    english, translated, language
):
    words, back = {}, {}
    for original, row in zip(english, translated(language), strict=True):
        for name in ("d", "N", "rho", "needles", "seed", "index", "category", "poi", "people"):
            assert row[name] == original[name]
        assert other_language(row["id"], "en") == original["id"]
        assert row["id"] == other_language(original["id"], language) != original["id"]
        assert (language_of(row["id"]), language_of(original["id"])) == (language, "en")
        for (category, value), (own, word) in zip(values_of(original), values_of(row), strict=True):
            assert category == own
            assert words.setdefault((category, value), word) == word
            assert back.setdefault((category, word), value) == value
    assert sum(category == "location" for category, _ in words) > 100


@pytest.mark.parametrize("language", OTHERS)
def test_colors_agree_with_what_has_them(translated, language):
    """Red and white, which no language leaves as they are, stand in the form that a noun needs."""
    known = KNOWN[language]
    text = "\n".join(row["puzzle"] for row in translated(language))
    forms = {word for _, *words in known["agreement"] for word in words}
    for around, *words in known["agreement"]:
        other = "|".join(sorted(forms - set(words), key=len, reverse=True))
        assert all(re.search(around.replace("{}", word), text) for word in words), around
        assert not other or not re.search(around.replace("{}", rf"(?:{other})(?!\w)"), text), around


@pytest.mark.parametrize("language", OTHERS)
def test_texts_have_no_english_and_no_gaps(translated, language):
    for row in translated(language):
        instruction, *lines = row["puzzle"].split("\n")
        assert not re.search(r"\b(?:the|and|is|wearing|last|who)\b", row["puzzle"])
        assert not re.search(r"  | [,.](?!\.)|[{}]|None", row["puzzle"])
        assert len(instruction) > 80
        assert len(lines) == len(row["people"]) + row["N"] + 2


RESPONSES = [(language, *case) for language in OTHERS for case in KNOWN[language]["responses"]]


@pytest.mark.parametrize(
    ("language", "category", "answer", "other", "response", "outcome"), RESPONSES
)
def test_responses(language, category, answer, other, response, outcome):
    row = {
        "id": f"cogniload-v1-test-s42-{language}-d5-N20-rho50-0", "poi": "Anna", "answer": answer,
        "category": category, "options": [other, answer],
    }  # fmt: skip
    scored = score(response, row)
    assert scored.outcome == outcome
    if scored.evidence:
        start, stop = scored.evidence
        assert response[start:stop].strip()
        assert scored.value == (answer if scored.correct else other)
    columns = {name: value for name, value in row.items() if name != "id"}
    assert score_response(response, **columns, language=language) == outcome
    for reward in (answer_score, step_score):  # they know English hedges alone
        with pytest.raises(ValueError, match=f"English .* {language}$"):
            reward(response, row)


@pytest.mark.parametrize("language", OTHERS)
def test_tasks_cards_and_twins_take_the_language(language):
    grid = {"d": 3, "N": 5, "rho": 50, "num_puzzles": 2}
    rows = generate_puzzles(**grid, language=language).to_pylist()
    defaults = {**grid, "seed": 42, "context_budget": 2048}
    task = make_puzzles("cogniload", defaults, {"language": language}, grids=[{}], task="t")
    assert task.drop(["context_budget"]).to_pylist() == rows
    sets = [configuration_of("cogniload", **grid, language=code) for code in ("en", language)]
    cards = [dataset_card("user/name", some).data for some in (sets[:1], sets[1:], sets)]
    assert [card["language"] for card in cards] == [["en"], [language], ["en", language]]
    again = named("cogniload").remake(rows[0], "again")
    assert again == rows[0] | {"id": f"{rows[0]['id']}~again"}
    published = sets[1]
    assert f"language{language}" in published.name
    assert read_entry(published.entry()).source("test").table().to_pylist() == rows
    twin = generate_puzzles(**grid, twin=f"language={language}")
    assert twin["puzzle"].to_pylist() == [row["puzzle"] for row in rows]
    assert {language_of(id) for id in twin["id"].to_pylist()} == {language}


@pytest.mark.parametrize(
    "parameters",
    [{"language": "tlh"}, {"language": ["de"]}, {"language": "de", "twin": "question=state"}],
)
def test_what_there_is_not_is_refused(parameters):
    with pytest.raises(ValueError, match="language"):
        generate_puzzles(3, 5, 50, 1, **parameters)


def line_of(row, language, t, state):
    """A numbered line with the PoI's state, as the puzzle's own sentences say it."""
    clauses = []
    for category, value in state.items():
        forms = forms_of(category, language).values()
        (form,) = (f for f in forms if value == (f if isinstance(f, str) else f["word"]))
        clauses.append(template_of(category, "state", language).render(value=form))
    states = sentences_of(language)["conjunction"]["state"].join(clauses)
    person = sentences_of(language)["person"].replace("{{ name }}", row["poi"])
    return f"{t}. {person.replace('{{ states }}', states)}"


def as_lines(words, row, language, states):
    """A numbered line a statement, as the puzzle's own sentences say the state."""
    return "\n".join(line_of(row, language, t, state) for t, state in enumerate(states) if t)


def as_prose(words, row, language, states):
    """A sentence a statement: that it does not apply, or the state after it."""
    return " ".join(
        words["after"].format(t=t) + line_of(row, language, t, now).split(". ", 1)[1]
        if now != before
        else words["skipped"].format(t=t, p=row["poi"])
        for t, (before, now) in enumerate(pairwise(states), 1)
    )


def as_table(words, row, language, states):
    """A row a statement, with a column a category."""
    cells = [[words["label"], *(words["nouns"][category] for category in states[0])]]
    cells += [[], *([str(t), *state.values()] for t, state in enumerate(states) if t)]
    return "\n".join(f"| {' | '.join(line or ['---'] * len(cells[0]))} |" for line in cells)


def as_states(words, row, language, states):
    """A line a statement, with every value, that names nobody."""
    return "\n".join(
        f"{words['step']} {t}: " + ", ".join(f"{words['nouns'][c]}: {v}" for c, v in state.items())
        for t, state in enumerate(states)
        if t
    )


def as_changes(words, row, language, states):
    """A line a statement, with what changes, or that it does not apply."""
    lines = []
    for t, (before, now) in enumerate(pairwise(states), 1):
        changed = [f"{words['nouns'][c]} → {v}" for c, v in now.items() if before[c] != v]
        skipped = words["skipped"].format(t=t, p=row["poi"])
        lines.append(f"{words['label']} {t}: {', '.join(changed)}" if changed else skipped)
    return "\n".join(lines)


@pytest.mark.parametrize(("layout", "least"), [
    (as_lines, 40), (as_prose, 40), (as_table, 45), (as_states, 40), (as_changes, 20),
])  # fmt: skip
@pytest.mark.parametrize("language", ["en", *OTHERS])
def test_layouts_are_read_and_each_claim_is_right(language, layout, least):
    """Of 64 traces without an error, and 64 whose error is carried on by the statements."""
    words = cases(__file__, "languages_layouts.toml")[language]
    claims, unread = [], []
    rows = generate_puzzles([1, 3, 5, 8], [10, 20], [30, 60], 4, language=language).to_pylist()
    for number, row in enumerate(rows):
        solution = solve_steps(row["puzzle"])
        states = [dict(state[row["poi"]]) for state in solution.states]
        final = line_of(row, language, 1, states[-1]).split(". ", 1)[1]
        steps = read_steps(f"{layout(words, row, language, states)}\n\n{final}", row)
        unread += [] if steps.read else [row["id"]]
        assert steps.first_error is None
        first, category = 1 + number % row["N"], row["category"]
        right = {states[first][category], states[first - 1][category]}
        others = [value for value in row["options"] if value not in right]
        wrong = [*states[:first], states[first] | {category: others[0]}]
        for needs, gives in solution.statements[first:]:
            applies = needs.items() <= wrong[-1].items()
            wrong.append(wrong[-1] | gives if applies else wrong[-1])
        final = line_of(row, language, 1, wrong[-1]).split(". ", 1)[1]
        steps = read_steps(f"{layout(words, row, language, wrong)}\n\n{final}", row)
        if steps.read and steps.first_error is not None:
            claims.append(steps.first_error == first)
    assert len(unread) <= 7, f"not read: {unread}"
    assert len(claims) >= least
    assert all(claims)


@pytest.mark.parametrize("language", OTHERS)
def test_of_a_response_in_english_nothing_is_claimed(language):
    for row in generate_puzzles([1, 3, 5], 10, 50, 6).to_pylist():
        states = [state[row["poi"]] for state in solve_steps(row["puzzle"]).states]
        lines = [f"{t}. {row['poi']}: {', '.join(states[t].values())}." for t in range(1, 11)]
        (translated,) = generate_puzzles(
            row["d"], 10, 50, 1, first_index=row["index"], language=language
        ).to_pylist()
        assert read_steps("\n".join(lines), translated).first_error is None


TRACES = cases(__file__, "languages_traces.toml")


@pytest.mark.parametrize("language", OTHERS)
def test_of_traces_written_by_hand_no_wrong_error_is_claimed(language):
    """Numbered lines, prose, tables and arrows, by a writer who had seen no rule of the reader."""
    rows = generate_puzzles(2, 3, 50, 5, language=language).to_pylist()
    read = 0
    for index, first, trace in TRACES[language]["traces"]:
        steps = read_steps(trace, rows[index])
        assert steps.first_error in (None, first or None), trace
        read += steps.read
    assert read >= 6
