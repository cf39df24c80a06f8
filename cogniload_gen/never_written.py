"""What is never written to the disk: keys, tokens, passwords and the like."""

import re
from collections.abc import Mapping
from typing import Any

# Names of what opens a server; not `eos_token` or `think_end_token`, which are of a vocabulary.
_KEY = (
    r"(?:[\w.-]*[_-])?(?:(?:api|access)?keys?|secrets?|pass(?:word|wd|phrase)|credentials?|"
    r"auth(?:orization)?|cookies?|headers?|"
    r"(?:api|auth|access|bearer|hf|hub|id|refresh|session|user)[_-]?token)|token"
)

_NAME = re.compile(_KEY, re.IGNORECASE)
_URL = re.compile(r"[a-z][a-z\d+.-]*://\S+", re.IGNORECASE)
_USER = re.compile(r"(?<=://)[^/?#]*@")
_PARAMETER = re.compile(rf"(?i)(?<=[?&;#])({_KEY})=[^&;#]*")


def without_keys(values: Mapping[Any, Any]) -> dict[str, Any]:
    """Return a copy of JSON-like values without what opens a server, to be written to disk.

    Left out is what is named a key, a token, a header, a password or alike, at any depth. A value
    that is a URL loses its `user:password@`, and a parameter of such a name, as `?api_key=...`, its
    value. All other texts, such as prompts, stay as they are, whatever they speak of.

    Examples:
        >>> without_keys({"api_key": "x", "base_url": "http://me:pw@host/v1?token=x", "model": "m"})
        {'base_url': 'http://host/v1?token=***', 'model': 'm'}
    """
    kept = {str(name): value for name, value in values.items() if not _NAME.fullmatch(str(name))}
    return {name: _without_keys(value) for name, value in kept.items()}


def _without_keys(value: Any) -> Any:
    if isinstance(value, Mapping):
        return without_keys(value)
    if isinstance(value, list | tuple):
        return [_without_keys(one) for one in value]
    if isinstance(value, str) and _URL.fullmatch(value.strip()):
        return _PARAMETER.sub(r"\1=***", _USER.sub("", value))
    return value
