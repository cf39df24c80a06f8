# SPDX-License-Identifier: Apache-2.0
"""Whether a response to a puzzle is right, by the benchmark's own rules."""

from pathlib import Path
from typing import Any, ClassVar

from nemo_gym.base_resources_server import (
    BaseResourcesServerConfig,
    BaseVerifyRequest,
    BaseVerifyResponse,
    ReverifyMode,
    SimpleResourcesServer,
)
from nemo_gym.verifier_fixture import VerifierFixture
from pydantic import ConfigDict

from cogniload_gen.rewards import answer_score


class CogniloadResourcesServerConfig(BaseResourcesServerConfig):
    REVERIFY_MODE: ClassVar[ReverifyMode] = ReverifyMode.STATELESS


class CogniloadVerifyRequest(BaseVerifyRequest):
    """A response, and the row of its puzzle as `cogniload generate` writes it."""

    model_config = ConfigDict(extra="allow")
    row: dict[str, Any]


class CogniloadVerifier:
    async def verify(self, body: CogniloadVerifyRequest) -> BaseVerifyResponse:
        """Return 1.0 for a right answer that is not hedged, else 0.0."""
        reward = float(answer_score(body.response.output_text, body.row))
        return BaseVerifyResponse(**body.model_dump(), reward=reward)


class CogniloadResourcesServer(CogniloadVerifier, SimpleResourcesServer):
    config: CogniloadResourcesServerConfig


VERIFIER_FIXTURE = VerifierFixture(
    server_factory=CogniloadVerifier,
    request_model=CogniloadVerifyRequest,
    cases_path=Path(__file__).parent / "tests" / "verifier_cases.jsonl",
    reseed=lambda server, request: None,  # nothing is drawn
)

if __name__ == "__main__":
    CogniloadResourcesServer.run_webserver()
