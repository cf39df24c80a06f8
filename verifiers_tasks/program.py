"""The turns in which a model answers: requests within the limit of the puzzle's response."""

from typing import Any

import httpx
import verifiers.v1 as vf

from cogniload_gen.answers.conversations import PROMPTS, is_compacted, resume, script_of
from cogniload_gen.answers.reasoning import split

# Where verifiers' server has a reply's reasoning, and reads that of an earlier one.
_FIELDS = ("reasoning", "reasoning_content", "reasoning_details")


class PuzzleHarness(vf.Harness[vf.HarnessConfig]):
    """Sends a prompt as a chat message, or the messages of a conversation, one after the other.

    It runs nothing, so that it needs no sandbox. Each request has an equal share of the puzzle's
    own `response_limit` as `max_tokens`; the run's `--sampling.max-tokens` takes its place.
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
        """Ask the model, by way of verifiers' own server, which keeps what is said."""
        system, prompt = self.resolve_text_prompt(data)
        row = getattr(data, "row", {})
        script = script_of(row) if "turns" in row else [(prompt or "", None)]
        first = [{"role": "system", "content": system}] if system else []
        most, messages, before = getattr(data, "response_limit", None), [*first], ""
        own: dict[str, Any] = {"model": ctx.model}
        if most is not None:
            own["max_tokens"] = max(1, most // len(script))
        async with httpx.AsyncClient(timeout=None, trust_env=False) as client:  # noqa: S113 (the run has a time limit of its own)

            async def ask(message: str) -> dict[str, Any]:
                body = {"messages": [*messages, {"role": "user", "content": message}]}
                answer = await client.post(
                    f"{endpoint}/chat/completions",
                    json=body | own,
                    headers={"Authorization": f"Bearer {secret}"},
                )
                answer.raise_for_status()
                return dict(answer.json()["choices"][0]["message"])

            try:
                for turn, (message, other) in enumerate(script, start=1):
                    asked, before = before + message, ""
                    reply = await ask(asked)
                    kept, said = row.get("keep_reasoning") and other is None, reply["content"] or ""
                    content = (said if kept else split(said).response) if other is None else other
                    thought = {name: reply[name] for name in _FIELDS if kept and reply.get(name)}
                    messages.append({"role": "user", "content": asked})
                    messages.append({"role": "assistant", "content": content} | thought)
                    if "turns" in row and is_compacted(row, turn):
                        text = row["turns"][turn - 1]["everyone"]
                        if "strategy" in row:
                            said = (await ask(PROMPTS[row["strategy"]]))["content"] or ""
                            text = split(said).response
                        if row.get("strategy") != "none":
                            messages, before = [*first], resume(row, text)
            except httpx.HTTPStatusError as error:
                return vf.ProgramResult(1, "", error.response.text)
        return vf.ProgramResult(0, "", "")


class _PuzzleEnvConfig(vf.SingleAgentEnvConfig):
    """One seat, whose program runs where verifiers does."""

    agent: vf.AgentConfig = vf.AgentConfig(runtime=vf.SubprocessConfig())


class PuzzleEnv(vf.Env[_PuzzleEnvConfig]):
    """One model, one puzzle."""

    async def run(self, task: vf.Task, agents: vf.Agents) -> None:
        """Let the model answer."""
        await agents.agent.run(task)
