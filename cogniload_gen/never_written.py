"""What is never written to the disk: keys, tokens, passwords and the like."""

import re
from collections.abc import Mapping
from typing import Any

_KEY = (
    r"(?:[\w.-]*[_-])?(?:(?:api|access)?keys?|secrets?|pass(?:word|wd|phrase)|credentials?|"
    r"auth(?:orization)?|cookies?|headers?|"
    r"(?:api|auth|access|bearer|hf|hub|id|refresh|session|user)[_-]?token)|token"
)
"""Names of what opens a server; not `eos_token` or `think_end_token`, which are of a vocabulary."""

_NAME = re.compile(_KEY, re.IGNORECASE)
_VALUE = r"""(?:\{[^}]*\}?|"[^"]*"?|'[^']*'?|[^\s,&;#]+)"""
_PAIR = re.compile(rf"""(?i)(?<![\w.-])((?:{_KEY})=|["'](?:{_KEY})["']\s*:\s*){_VALUE}""")
_USER = re.compile(r"""(?<=://)[^/?#\s,"'<>]*@""")


def without_keys(values: Mapping[Any, Any]) -> dict[str, Any]:
    """Return a copy of JSON-like values without what opens a server, to be written to disk.

    Left out is what is named a key, a token, a header, a password or alike, at any depth. In texts
    a URL loses its `user:password@`, and the value of such a name, as in `?api_key=...` or in
    lm-eval's `name=value,...`, becomes `***`.
    """
    kept = {str(name): value for name, value in values.items() if not _NAME.fullmatch(str(name))}
    return {name: _without_keys(value) for name, value in kept.items()}


def _without_keys(value: Any) -> Any:
    if isinstance(value, Mapping):
        return without_keys(value)
    if isinstance(value, list | tuple):
        return [_without_keys(one) for one in value]
    return _PAIR.sub(r"\1***", _USER.sub("", value)) if isinstance(value, str) else value
