"""The one turn in which a model answers: a request within the limit of the puzzle's response."""

from typing import Any

import httpx
import verifiers.v1 as vf


class PuzzleHarness(vf.Harness[vf.HarnessConfig]):
    """Sends a prompt as one chat message. It runs nothing, so that it needs no sandbox.

    The request has the puzzle's own `response_limit` as `max_tokens`; the run's
    `--sampling.max-tokens` takes its place.
    """

    APPENDS_SYSTEM_PROMPT = True
    EXECUTES_CODE = False
    NEEDS_CONTAINER = False

    async def launch(
        self,
        ctx: vf.ModelContext,
        trace: vf.Trace,
        runtime: vf.Runtime,
        endpoint: str,
        secret: str,
        mcp_urls: dict[str, str],
        data: vf.TaskData,
    ) -> vf.ProgramResult:
        """Ask the model once, by way of verifiers' own server, which keeps what is said."""
        system, prompt = self.resolve_text_prompt(data)
        texts = {"system": system, "user": prompt}
        body: dict[str, Any] = {
            "model": ctx.model,
            "messages": [{"role": role, "content": text} for role, text in texts.items() if text],
        }
        if (limit := getattr(data, "response_limit", None)) is not None:
            body["max_tokens"] = limit
        async with httpx.AsyncClient(timeout=None, trust_env=False) as client:  # noqa: S113 (the run has a time limit of its own)
            answer = await client.post(
                f"{endpoint}/chat/completions",
                json=body,
                headers={"Authorization": f"Bearer {secret}"},
            )
        return vf.ProgramResult(int(answer.is_error), "", answer.text if answer.is_error else "")


class PuzzleEnvConfig(vf.SingleAgentEnvConfig):
    """One seat, whose program runs where verifiers does."""

    agent: vf.AgentConfig = vf.AgentConfig(runtime=vf.SubprocessConfig())


class PuzzleEnv(vf.Env[PuzzleEnvConfig]):
    """One model, one puzzle, one turn."""

    async def run(self, task: vf.Task, agents: vf.Agents) -> None:
        """Let the model answer."""
        await agents.agent.run(task)
