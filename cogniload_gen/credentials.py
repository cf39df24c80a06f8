"""The rules that recognize a credential, and how it is hidden in a text.

Three rules find one: a name that says so (`api_key`, `X-Auth-Token`, `password`), the shape of a
value (`sk-...`, `Bearer ...`, a JSON web token), and the place in a URL (its user and password, and
the values of its query).
"""

import re
from importlib.resources import files
from tomllib import loads

HIDDEN = "***"

LISTS = loads(files(__package__).joinpath("credentials.toml").read_text("utf-8"))
PATTERNS = {name: re.compile("|".join(alternatives)) for name, alternatives in LISTS.items()}
"""Which names hold a credential, and what known services' credentials look like."""

USER = re.compile(r"(?<=://)[^/?#\s\"'<>]{1,2000}@")
QUERY = re.compile(r"(?<=[?&;])([\w.%~-]{1,64})=([^&;#\s\"'<>]{1,4000})")
OPTION = re.compile(r"(?<![\w-])(--(?P<name>[\w-]{1,64})[=\s]\s{0,2})(?P<value>[^\s-]\S{0,3999})")
"""`--name value` or `--name=value`: an option of a command."""

NAME = re.compile(r"""(?<![\w.-])(?P<name>[\w.-]{1,64})["']?\s{0,3}[=:]\s{0,3}["']?""")
VALUE = re.compile(r"""(?:(?:Bearer|Basic)\s{1,3})?[^\s"',;&{}\[\]]{1,4000}""")
"""Of `name=value`, `name: value` or `"name": "value"` in a text."""


def names_credential(name: str) -> bool:
    """Return whether what has this name is a credential."""
    name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name[:200])
    words = re.findall(r"[a-z0-9]+", name.lower())
    if not words:
        return False
    if PATTERNS["last_word"].fullmatch(words[-1]) or PATTERNS["joined"].search("_".join(words)):
        return True
    kinds = (*words[:-1], words[-1].removesuffix("token"))
    return words[-1].endswith("token") and not any(map(PATTERNS["special_token"].fullmatch, kinds))


def hide_by_rule(text: str) -> str:
    """Return a text with `***` in the place of all that the rules find; in linear time."""
    text = USER.sub("", text)
    text = QUERY.sub(rf"\1={HIDDEN}", text)
    text = PATTERNS["shapes"].sub(HIDDEN, text)
    return hide_pairs(OPTION.sub(hidden_option, text))


def hidden_option(match: re.Match[str]) -> str:
    """Return an option and its value, the value hidden if the name is of a credential."""
    return f"{match[1]}{HIDDEN}" if names_credential(match["name"]) else match[0]


def hide_pairs(text: str) -> str:
    """Return a text with each value hidden whose name is of a credential."""
    parts, end = [], 0
    for match in NAME.finditer(text):
        value = VALUE.match(text, match.end())
        plain = value is None or value[0].lower() in ("none", "null", "true", "false")
        if value and not plain and match.start() >= end and names_credential(match["name"]):
            parts += [text[end : match.end()], HIDDEN]
            end = value.end()
    return "".join([*parts, text[end:]])
