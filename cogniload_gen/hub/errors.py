"""What goes wrong between us and the Hub, in one line."""

from collections.abc import Iterator
from contextlib import contextmanager

from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError

HTTP_ERROR: type[BaseException] = HfHubHTTPError.__mro__[HfHubHTTPError.__mro__.index(OSError) - 1]
"""What the Hub's library raises where there is no answer at all (httpx's or requests' own)."""


@contextmanager
def hub_errors(repo: str) -> Iterator[None]:
    """Make one line, an OSError, of what goes wrong between us and the Hub."""
    try:
        yield
    except (HTTP_ERROR, LocalEntryNotFoundError, ConnectionError) as error:
        response = getattr(error, "response", None)
        if response is None:
            reason = f"{type(error).__name__}: {error}"
            raise OSError(f"{repo}: the Hub can't be reached: {reason}") from None
        reasons = {
            401: "the token is not valid: run `hf auth login` or set HF_TOKEN",
            403: "the token has no permission to write there",
            404: "there is no such repository, or the token may not see it",
            412: "another push was faster: push again",
        }
        reason = reasons.get(response.status_code, " ".join(str(error).split())[:300])
        raise OSError(f"{repo}: the Hub refused: {reason}") from None
    except RuntimeError as error:  # of an upload, in which an error of any kind is the cause
        raise OSError(f"{repo}: {error} ({error.__cause__})") from None
