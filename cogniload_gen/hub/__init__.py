"""Published puzzles: the card of a dataset repository, push and verify; what the Hub answers."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from huggingface_hub import errors

from cogniload_gen.files import one_line

REPOSITORY = re.compile(r"[\w.-]+/[\w.-]+")
"""A repository's name, user/name."""

KINDS = errors.HfHubHTTPError.__mro__
HTTP_ERROR: type[BaseException] = KINDS[KINDS.index(OSError) - 1]
"""What the Hub's library raises where there is no answer at all (httpx's or requests' own)."""

REASONS = {
    401: "the token is not valid: run `hf auth login` or set HF_TOKEN",
    403: "the token has no permission for it, or its owner must grant access first",
    404: "there is no such repository, or the token may not see it",
    412: "another push was faster: push again",
}
"""What a status of the Hub's answer means."""


@contextmanager
def hub_errors(repo: str) -> Iterator[None]:
    """Make one line, an OSError, of what goes wrong between us and the Hub."""
    try:
        yield
    except (HTTP_ERROR, errors.LocalEntryNotFoundError, ConnectionError) as error:
        status = getattr(getattr(error, "response", None), "status_code", None)
        kind = type(error)
        if kind is errors.RepositoryNotFoundError:  # without a token, its status is 401
            status = 404
        reason = REASONS.get(status or 0) or one_line(f"{kind.__name__}: {error}")
        what = "can't be reached" if status is None else "refused"
        raise OSError(f"{repo}: the Hub {what}: {reason}") from None
    except RuntimeError as error:  # of an upload, in which an error of any kind is the cause
        if error.__cause__ is None:
            raise
        raise OSError(f"{repo}: {one_line(f'{error} ({error.__cause__})')}") from None
