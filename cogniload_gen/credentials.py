"""The rules that recognize a credential, and how it is hidden in a text.

Three rules find one: a name that says so (`api_key`, `X-Auth-Token`, `password`), the shape of a
value (`sk-...`, `Bearer ...`, a JSON web token), and the place in a URL (its user and password, and
the values of its query).
"""

import re

HIDDEN = "***"

LAST_WORD = re.compile(
    r"(api|access)?keys?|secrets?|pass(word|wd|phrase|code)?s?|pwd|cred(ential)?s?"
    r"|auth(entication|ori[sz]ation)?|bearer|cookies?|sig(nature)?|jwt|pat|headers?|netrc"
)
"""A name that ends with one of these words holds a credential."""

JOINED = re.compile(
    r"api_?key|access_?key|private_?key|secret|passw(or)?d|passphrase|credential|authori[sz]ation"
    r"|(?<![a-z])(api|auth|access|bearer|hf|hub|id|refresh|session|user|security)_?token"
)
"""A name that holds one of these anywhere holds a credential."""

SPECIAL_TOKEN = re.compile(
    r"bos|eos|eot|pad|unk|sep|cls|mask|start|end|stop|think(ing)?|reasoning|prefix|suffix|image"
    r"|audio|video|special|first|last|next|new|max|min|add"
)
"""Before "token", these make it one of a vocabulary: `eos_token`, `think_end_token`."""

SHAPES = re.compile(
    r"\b(?:Bearer|Basic)\s{1,3}[\w.~+/=-]{4,}"
    r"|\bsk-(?=[\w-]{0,80}\d)[\w-]{16,}"
    r"|\b(?:hf|gsk|gh[opsur]|github_pat)_\w{16,}"
    r"|\b(?:xai|nvapi|glpat|xox[abprs])-[\w-]{16,}"
    r"|\b(?:AKIA[0-9A-Z]{12,}|AIza[\w-]{20,}|ya29\.[\w-]{16,})"
    r"|\beyJ[\w-]{8,}\.[\w-]{4,}\.[\w-]*"
)
"""What credentials of known services look like."""

USER = re.compile(r"(?<=://)[^/?#\s\"'<>]{1,2000}@")
QUERY = re.compile(r"(?<=[?&;])([\w.%~-]{1,64})=([^&;#\s\"'<>]{1,4000})")
OPTION = re.compile(r"(?<![\w-])(--(?P<name>[\w-]{1,64})[=\s]\s{0,2})(?P<value>[^\s-]\S{0,3999})")
"""`--name value` or `--name=value`: an option of a command."""

PAIR = re.compile(
    r"""(?<![\w.-])(?P<name>[\w.-]{1,64})(?P<between>["']?\s{0,3}[=:]\s{0,3}["']?)"""
    r"""(?P<value>(?:(?:Bearer|Basic)\s{1,3})?[^\s"',;&{}\[\]]{1,4000})"""
)
"""`name=value`, `name: value` or `"name": "value"` in a text."""


def names_credential(name: str) -> bool:
    """Return whether what has this name is a credential."""
    name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name[:200])
    words = re.findall(r"[a-z0-9]+", name.lower())
    if not words:
        return False
    if LAST_WORD.fullmatch(words[-1]) or JOINED.search("_".join(words)):
        return True
    kinds = (*words[:-1], words[-1].removesuffix("token"))
    return words[-1].endswith("token") and not any(map(SPECIAL_TOKEN.fullmatch, kinds))


def hide_by_rule(text: str) -> str:
    """Return a text with `***` in the place of all that the rules find; in linear time."""
    text = USER.sub("", text)
    text = QUERY.sub(rf"\1={HIDDEN}", text)
    text = SHAPES.sub(HIDDEN, text)
    return PAIR.sub(hidden_pair, OPTION.sub(hidden_option, text))


def hidden_option(match: re.Match[str]) -> str:
    """Return an option and its value, the value hidden if the name is of a credential."""
    return f"{match[1]}{HIDDEN}" if names_credential(match["name"]) else match[0]


def hidden_pair(match: re.Match[str]) -> str:
    """Return a name and its value, the value hidden if the name is of a credential."""
    value = match["value"]
    if not names_credential(match["name"]) or value.lower() in ("none", "null", "true", "false"):
        return match[0]
    return f"{match['name']}{match['between']}{HIDDEN}"
