"""What goes wrong between us and the Hub, in one line."""

from collections.abc import Iterator
from contextlib import contextmanager

from huggingface_hub import errors

KINDS = errors.HfHubHTTPError.__mro__
HTTP_ERROR: type[BaseException] = KINDS[KINDS.index(OSError) - 1]
"""What the Hub's library raises where there is no answer at all (httpx's or requests' own)."""

REASONS = {
    401: "the token is not valid: run `hf auth login` or set HF_TOKEN",
    403: "the token has no permission for it",
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
        response = getattr(error, "response", None)
        if response is None:
            reason = f"{type(error).__name__}: {error}"
            raise OSError(f"{repo}: the Hub can't be reached: {brief(reason)}") from None
        reason = REASONS.get(response.status_code, brief(str(error)))
        if isinstance(error, errors.GatedRepoError):  # a kind of the next one
            reason = "its owner must grant access first"
        elif isinstance(error, errors.RepositoryNotFoundError):
            reason = REASONS[404]  # without a token, its status is 401
        raise OSError(f"{repo}: the Hub refused: {reason}") from None
    except RuntimeError as error:  # of an upload, in which an error of any kind is the cause
        if error.__cause__ is None:
            raise
        raise OSError(f"{repo}: {brief(f'{error} ({error.__cause__})')}") from None


def brief(text: str) -> str:
    """Return the start of a text, on one line."""
    return " ".join(text.split())[:300]
