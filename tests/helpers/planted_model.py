"""A simulated model, whose limit and whose causes of failing are planted.

It knows nothing but the text of a prompt, and shares no code with what it tests: it parses the
puzzle, tracks the person of interest (PoI) statement by statement, slips now and then, carries the
wrong value on, and says all of it.
"""

# ruff: noqa: S311
import re
from dataclasses import dataclass, replace
from functools import cache, partial
from random import Random
from zlib import crc32

from cogniload_gen import generate_puzzles

PUZZLE = re.compile(r"(Solve this logic puzzle\..*?\n\n[^\n]*\?)(.*)", re.DOTALL)
CLAUSE = re.compile(
    r"(ate|eat|read) (?:an? )?([\w-]+)|(dye) their hair ([\w-]+)|(in|to) the ([\w-]+)"
    r"|([\w-]+) (socks|shirt|pants|hat|gloves|underwear|hair|music|movie)\b"
)
UPDATE = re.compile(r"(?<!last) (?=(?:put on|dye|eat|listen to|watch|read|move to) )")
NO_ARTICLE = re.compile("pizza|pasta|sushi|toast|potatoes|(non-)?fiction|sci-fi")
VERBS = {"ate": "eat", "eat": "eat", "read": "read", "dye": "hair", "in": "place", "to": "place"}
CATEGORY = VERBS | {"listen": "music", "Where": "place"}
STATE = dict.fromkeys(("shirt", "hat"), "is wearing a {} {}") | {
    "hair": "has {} hair", "music": "last listened to {} music", "movie": "last watched a {} movie",
    "eat": "last ate a {}", "read": "last read a {}", "place": "is in the {}",
}  # fmt: skip


@cache
def states_of(text):
    """The attributes that a text names, in its order: pairs of a category and a value."""
    found = ([part for part in clause if part] for clause in CLAUSE.findall(text))
    pairs = (pair if pair[0] in VERBS else pair[::-1] for pair in found)
    return tuple((CATEGORY.get(category, category), value) for category, value in pairs)


class Puzzle:
    """What a puzzle's text says: the states of the PoI, the statements, and what is asked."""

    def __init__(self, text):
        body, _, question = text.rpartition("\n\n")
        lines = body.splitlines()[1:]
        people = {line.split()[0]: line for line in lines if not line[0].isdigit()}
        (self.poi,) = {*re.findall(r"\w+", question)} & {*people}
        self.states, self.needle, self.domains = [dict(states_of(people[self.poi]))], [], {}
        self.texts = [line.partition(" ")[2] for line in lines if line[0].isdigit()]
        halves = [UPDATE.split(text, maxsplit=1) for text in self.texts]
        self.statements = [(dict(states_of(a)), dict(states_of(b))) for a, b in halves]
        words = (CATEGORY.get(word, word) for word in re.findall(r"\w+", question))
        self.asked = next(word for word in words if word in self.states[0])
        for category, value in states_of(body.partition("\n")[2]):
            self.domains.setdefault(category, {})[value] = None
        for needs, gives in self.statements:
            self.needle.append(needs.items() <= self.states[-1].items())
            self.states.append(self.states[-1] | (gives if self.needle[-1] else {}))
        self.answer = self.states[-1][self.asked]

    def tell(self, state):
        """The sentence about the PoI with a state."""
        clauses = [STATE.get(c, "is wearing {} {}").format(v, c) for c, v in state.items()]
        plain = [re.sub(rf"\ba (?={NO_ARTICLE.pattern})", "", clause) for clause in clauses]
        return f"{self.poi} {' and '.join(re.sub(r'a (?=[aeiou])', 'an ', p) for p in plain)}."


read = cache(Puzzle)


@dataclass(frozen=True)
class Model:
    """Solves half of the puzzles of `limit` statements at d and rho.

    `causes` are the weights of what its slips grow with: each statement ("each"), its place
    ("position"), hay, needles, the clauses of a statement ("d"), or needles that fail at each
    attempt ("step"). What it got wrong heals, where the puzzle lets it, with the chance `heals`; a
    failure becomes a guess with the chance `guess`. Without healing alone is a cause pure: what
    is wrong heals more often where all statements are needles. A changed model has another `skill`,
    by which its slips are divided, or draws by another `version`.
    """

    causes: tuple[tuple[str, float], ...] = (("each", 1),)
    limit: int = 20
    d: int = 1
    rho: float = 50
    guess: float = 0
    heals: float = 0
    skill: float = 1
    version: int = 0

    def hazards(self, puzzle, rate):
        """The chance of a slip at each statement."""
        N, share, rate = self.limit, self.rho / 100, rate / self.skill
        for t, (needs, gives) in enumerate(puzzle.statements, 1):
            needle, clauses = puzzle.needle[t - 1], len(needs) + len(gives)
            slips = {"each": 1, "position": 2 * t / (N + 1), "step": 0, "needles": needle / share,
                     "hay": (not needle) / max(1 - share, 1 / N),
                     "d": (clauses / (self.d + 1)) ** 2}  # fmt: skip
            hard = crc32(puzzle.texts[t - 1].encode()) / 2**32 < needle * rate / N / share
            chance = rate / N * sum(weight * slips[cause] for cause, weight in self.causes)
            yield 0.99 if hard and "step" in dict(self.causes) else min(chance, 0.95)

    def track(self, puzzle, state, done, rate, draws):
        """Yield the PoI's state after each further statement, as the model sees it."""
        asked, true = puzzle.asked, puzzle.states[done]
        for t, hazard in enumerate([*self.hazards(puzzle, rate)][done:], done):
            lost, true = state[asked] != true[asked], puzzle.states[t + 1]
            needs, gives = puzzle.statements[t]
            state, draw = state | (gives if needs.items() <= state.items() else {}), draws(t, state)
            slip, pick, heals = draw.random() < hazard, draw.random(), draw.random() < self.heals
            again = lost and state[asked] == true[asked] and not heals
            category = asked if again or asked in gives else [*gives][int(pick * len(gives))]
            left_out = {state[category], None if heals else true[category]}
            others = [value for value in puzzle.domains[category] if value not in left_out]
            if (slip or again) and others:
                state = state | {category: others[int(pick * 7919 % 1 * len(others))]}
            yield state

    def calibrate(self):
        """The slips at the limit; to find them takes a second, once."""
        return _rate(replace(self, skill=1, version=0))

    def accuracy(self, N, rate=None):
        """The share that it solves of puzzles of N statements: what is planted."""
        right, puzzles = 0, _puzzles(self.d, N, self.rho)
        rate = rate or self.calibrate()
        for number, puzzle in enumerate(puzzles):
            drawn = partial(_same, Random(number))
            track = self.track(puzzle, puzzle.states[0], 0, rate, drawn)
            solved = [*track][-1][puzzle.asked] == puzzle.answer
            right += 1 if solved else self.guess / len(puzzle.domains[puzzle.asked])
        return right / len(puzzles)

    def respond(self, prompt, key=None):
        """The steps and the final sentence that follow on a prompt.

        The prompt may end in the beginning of the response. Without a key the next words are a
        function of all before them, as at temperature 0; else of the key.
        """
        found = PUZZLE.search(prompt)
        if not found:
            return "", "I can't tell."
        puzzle, before = read(found[1]), found[2]
        state, done, said = puzzle.states[0], 0, re.findall(r"^(\d+)\. (.*)$", before, re.MULTILINE)
        for number, line in said:
            needs, gives = puzzle.statements[int(number) - 1]
            state = state | (gives if needs.items() <= state.items() else {})
            state, done = state | dict(states_of(line)), int(number)
        sampled = key and Random(f"{self.version} {key} {prompt}")
        told = [f"{number}. {line}\n" for number, line in said]

        def draws(t, state):
            return sampled or Random(f"{self.version} {found[1]} {t} {''.join(told)}")

        track = self.track(puzzle, state, done, self.calibrate(), draws)
        for t, state in enumerate(track, done + 1):
            told.append(f"{t}. {puzzle.tell(state)}\n")
        ended = before.rstrip().endswith((".", ">"))
        joint = "" if not done or (ended and before.endswith("\n")) else "\n" if ended else ".\n"
        final, draw = state[puzzle.asked], draws(-1, state)
        guesses = final != puzzle.answer and draw.random() < self.guess
        final = draw.choice([*puzzle.domains[puzzle.asked]]) if guesses else final
        rest = joint + "".join(told[len(said) :])
        return rest, "I guess. " * guesses + puzzle.tell({puzzle.asked: final})


def is_wrong(prompt, final):
    """Whether a final sentence, or a text that ends in it, does not have the prompt's answer."""
    puzzle = read(PUZZLE.search(prompt)[1])
    return dict(states_of(final)).get(puzzle.asked) != puzzle.answer


def _same(draw, *_):
    return draw


@cache
def _puzzles(d, N, rho):
    rows = generate_puzzles(d=d, N=N, rho=rho, num_puzzles=600, seed=7, split="train")
    return [Puzzle(text) for text in rows["puzzle"].to_pylist()]


@cache
def _rate(model):
    """The slips at the limit, in the sum, at which half of the puzzles are solved."""
    low, high = 0.2, 3.0
    for _ in range(9):
        middle = (low + high) / 2
        low, high = (middle, high) if model.accuracy(model.limit, middle) > 0.5 else (low, middle)
    return low
