"""The scripted model server as the providers' own SDKs meet it."""

from __future__ import annotations

import asyncio
from typing import Any

import aiohttp
import anthropic
import openai
import pytest

from engine.models.model_call import Stop
from engine.models.scripted.script import (
    Break,
    ContextFull,
    CutOff,
    Done,
    Empty,
    Fail,
    Filter,
    Hang,
    Malformed,
    Refuse,
    Run,
    Say,
    Script,
    Scripts,
    Tokens,
    Turn,
    Use,
)
from engine.models.scripted.server import ScriptedServer
from engine.models.settings import Wire

pytestmark = pytest.mark.anyio

SHELL = {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]}
CHAT_TOOL: Any = {"type": "function", "function": {"name": "bash", "parameters": SHELL}}
CLAUDE_TOOL: Any = {"name": "Bash", "input_schema": SHELL}
EXEC_TOOL: Any = {
    "type": "function",
    "name": "exec_command",
    "strict": False,
    "parameters": {"type": "object", "properties": {"cmd": {"type": "string"}}, "required": ["cmd"]},
}
TOKENS = Tokens(tokens_in=1000, tokens_out=90, cached=600, cache_written=100, reasoning=30)


def server(*turns: Turn, **more: Any) -> ScriptedServer:
    return ScriptedServer(Script(turns=turns), **more)


def chat_client(at: ScriptedServer, key: str = "k") -> openai.AsyncOpenAI:
    return openai.AsyncOpenAI(api_key=key, base_url=at.base_url(Wire.OPENAI_CHAT), max_retries=0)


def claude_client(at: ScriptedServer, key: str = "k") -> anthropic.AsyncAnthropic:
    return anthropic.AsyncAnthropic(api_key=key, base_url=at.base_url(Wire.ANTHROPIC), max_retries=0)


async def ask_chat(at: ScriptedServer, *messages: Any, **more: Any) -> Any:
    async with chat_client(at) as client:
        return await client.chat.completions.create(model="m", messages=list(messages) or [user("do it")], **more)


async def ask_responses(at: ScriptedServer, **more: Any) -> Any:
    async with chat_client(at) as client:
        return await client.responses.create(model="m", **{"input": "do it", **more})


async def ask_claude(at: ScriptedServer, *messages: Any, **more: Any) -> Any:
    async with claude_client(at) as client:
        given = list(messages) or [user("do it")]
        return await client.messages.create(model="m", max_tokens=9, messages=given, **more)


def user(text: str) -> Any:
    return {"role": "user", "content": text}


async def test_a_command_is_a_call_of_the_tool_that_runs_commands_in_chat_completions() -> None:
    async with server(Run(command="ls -la", say="A look.", tokens=TOKENS, cost_usd=0.25)) as at:
        plain = await ask_chat(at, tools=[CHAT_TOOL])
        async with chat_client(at) as client:
            stream = client.chat.completions.stream(
                model="m", messages=[user("do it")], tools=[CHAT_TOOL], stream_options={"include_usage": True}
            )
            async with stream as events:
                streamed: Any = await events.get_final_completion()
    for found in (plain, streamed):
        choice = found.choices[0]
        assert (choice.message.content, choice.finish_reason) == ("A look.", "tool_calls")
        assert choice.message.tool_calls[0].function.arguments == '{"command": "ls -la"}'
        assert (found.usage.prompt_tokens, found.usage.completion_tokens) == (1000, 90)
        assert found.usage.prompt_tokens_details.cached_tokens == 600
        assert found.usage.completion_tokens_details.reasoning_tokens == 30
        assert found.usage.cost == 0.25


async def test_a_command_is_a_call_of_the_tool_that_runs_commands_in_responses() -> None:
    async with server(Run(command="ls -la", say="A look.", reasoning="Look first.", tokens=TOKENS)) as at:
        plain = await ask_responses(at, tools=[EXEC_TOOL])
        async with (
            chat_client(at) as client,
            client.responses.stream(model="m", input="x", tools=[EXEC_TOOL]) as events,
        ):
            streamed: Any = await events.get_final_response()
    for found in (plain, streamed):
        reasoning, message, call = found.output
        assert reasoning.summary[0].text == "Look first."
        assert message.content[0].text == "A look."
        assert (call.name, call.arguments) == ("exec_command", '{"cmd": "ls -la"}')
        assert (found.status, found.usage.input_tokens, found.usage.output_tokens) == ("completed", 1000, 90)
        assert found.usage.input_tokens_details.cached_tokens == 600


async def test_a_command_is_a_call_of_the_tool_that_runs_commands_in_anthropic_messages() -> None:
    async with server(Run(command="ls -la", say="A look.", reasoning="Look first.", tokens=TOKENS, piece=3)) as at:
        plain = await ask_claude(at, tools=[CLAUDE_TOOL])
        async with (
            claude_client(at) as client,
            client.messages.stream(model="m", max_tokens=9, messages=[user("x")], tools=[CLAUDE_TOOL]) as events,
        ):
            streamed: Any = await events.get_final_message()
    for found in (plain, streamed):
        thinking, message, call = found.content
        assert (thinking.thinking, message.text) == ("Look first.", "A look.")
        assert (call.name, call.input, found.stop_reason) == ("Bash", {"command": "ls -la"}, "tool_use")
        usage = found.usage
        assert (usage.input_tokens, usage.cache_read_input_tokens, usage.cache_creation_input_tokens) == (300, 600, 100)
        assert usage.output_tokens == 90


async def test_a_request_made_again_gets_the_same_turn_and_the_history_gets_the_next() -> None:
    async with server(Say(text="one"), Say(text="two"), Done(text="three")) as at:
        first = [(await ask_chat(at)).choices[0].message.content for _ in range(3)]
        history = [user("do it"), {"role": "assistant", "content": "one"}, user("go on")]
        second = (await ask_chat(at, *history)).choices[0].message.content
        history += [{"role": "assistant", "content": "two"}, user("go on")]
        third = (await ask_claude(at, *history)).content[0].text
        history += [{"role": "assistant", "content": "three"}, user("are you sure?")]
        after = (await ask_claude(at, *history)).content[0].text
    assert (first, second, third, after) == (["one"] * 3, "two", "three", "three")


async def test_a_failure_is_over_after_its_times_and_takes_no_turn_of_the_answers() -> None:
    async with server(Fail(status=429, times=2, headers={"retry-after": "7"}), Say(text="one"), Fail(status=529)) as at:
        for _ in range(2):
            with pytest.raises(openai.RateLimitError) as failed:
                await ask_chat(at)
            assert failed.value.response.headers["retry-after"] == "7"
        assert (await ask_chat(at)).choices[0].message.content == "one"
        history = [user("do it"), {"role": "assistant", "content": "one"}, user("go on")]
        with pytest.raises(openai.InternalServerError):
            await ask_chat(at, *history)
        assert (await ask_chat(at, *history)).choices[0].message.content == "one"
        with pytest.raises(openai.RateLimitError):
            await ask_chat(at, user("another conversation"))


async def test_answers_of_failing_turns_that_a_program_keeps_in_its_history_count_for_nothing() -> None:
    turns = (Malformed(), CutOff(text="half"), Empty(), Run(command="true"), Done(text="end"))
    async with ScriptedServer(Script(turns=turns)) as at:
        history: list[Any] = [user("do it")]
        kinds = []
        for _ in range(5):
            message = (await ask_chat(at, *history, tools=[CHAT_TOOL])).choices[0].message
            kinds.append(at.asked[-1].kind)
            history.append(message.model_dump(exclude_none=True))
            history += [{"role": "tool", "tool_call_id": call.id, "content": "ok"} for call in message.tool_calls or ()]
            history.append(user("go on"))
    assert kinds == ["Malformed", "CutOff", "Empty", "Run", "Done"]


async def test_counted_turns_go_by_requests_whatever_the_history_holds() -> None:
    turns = (Say(text="one"), Fail(status=500, times=2), Say(text="two"))
    said = []
    async with ScriptedServer(Script(turns=turns, counted=True)) as at:
        for _ in range(4):
            try:
                said.append((await ask_chat(at)).choices[0].message.content)
            except openai.InternalServerError:
                said.append("500")
    assert said == ["one", "500", "500", "two"]


async def test_scripts_are_chosen_by_marker_or_by_address() -> None:
    scripts = Scripts(
        scripts={
            "sums": Script(marker="task-of-sums", turns=(Say(text="4"),)),
            "else": Script(turns=(Say(text="?"),)),
        },
        default="else",
    )
    async with ScriptedServer(scripts) as at:
        by_marker = (await ask_chat(at, user("this is task-of-sums"))).choices[0].message.content
        by_default = (await ask_chat(at, user("anything"))).choices[0].message.content
        async with openai.AsyncOpenAI(api_key="k", base_url=at.base_url(Wire.OPENAI_CHAT, "sums")) as client:
            found: Any = await client.chat.completions.create(model="m", messages=[user("anything")])
    assert (by_marker, by_default, found.choices[0].message.content) == ("4", "?", "4")


async def test_an_aside_uses_up_no_turn() -> None:
    script = Script(turns=(Fail(status=500), Say(text="one")), asides={"Write a title": "A title"})
    async with ScriptedServer(script) as at:
        assert (await ask_claude(at, user("Write a title for it"))).content[0].text == "A title"
        assert (await ask_claude(at, system="Write a title")).content[0].text == "A title"
        with pytest.raises(anthropic.InternalServerError):
            await ask_claude(at)
        assert [heard.kind for heard in at.asked] == ["aside", "aside", "Fail"]


async def test_a_wrong_key_is_refused_and_no_key_is_kept() -> None:
    async with server(Say(text="one"), key="right") as at:
        async with chat_client(at, "wrong") as client:
            with pytest.raises(openai.AuthenticationError):
                await client.chat.completions.create(model="m", messages=[user("do it")])
        async with claude_client(at, "right") as claude:
            found: Any = await claude.messages.create(model="m", max_tokens=9, messages=[user("do it")])
        assert found.content[0].text == "one"
        assert [heard.key_right for heard in at.requests] == [False, True]
        kept = [value for heard in at.requests for value in heard.headers.values()]
    assert "***" in kept
    assert not [value for value in kept if "right" in value or "wrong" in value]


async def test_refusals_filters_lengths_and_full_contexts_look_as_the_providers_make_them() -> None:
    async with server(Refuse(times=0)) as at:
        refused = (await ask_chat(at)).choices[0]
        assert (refused.message.refusal, refused.finish_reason) == ("I can't help with that.", "stop")
        assert (await ask_responses(at)).output[0].content[0].type == "refusal"
        assert (await ask_claude(at)).stop_reason == "refusal"
    async with server(CutOff(times=0)) as at:
        assert (await ask_chat(at)).choices[0].finish_reason == "length"
        assert (await ask_responses(at)).incomplete_details.reason == "max_output_tokens"
        assert (await ask_claude(at)).stop_reason == "max_tokens"
    async with server(Filter(times=0)) as at:
        for error, asking in ((openai.BadRequestError, ask_chat), (openai.BadRequestError, ask_responses)):
            with pytest.raises(error) as filtered:
                await asking(at)
            assert filtered.value.code == "content_filter"
        with pytest.raises(anthropic.BadRequestError, match="content filtering policy"):
            await ask_claude(at)
    async with server(Filter(times=0, midway=True)) as at:
        assert (await ask_chat(at)).choices[0].finish_reason == "content_filter"
        assert (await ask_responses(at)).incomplete_details.reason == "content_filter"
    async with server(ContextFull(times=0)) as at:
        with pytest.raises(openai.BadRequestError) as full:
            await ask_chat(at)
        assert full.value.code == "context_length_exceeded"
        with pytest.raises(anthropic.BadRequestError, match="prompt is too long"):
            await ask_claude(at)
        kinds = [event.type async for event in await ask_responses(at, stream=True)]
        assert kinds == ["response.created", "response.failed"]


async def test_broken_connections_break_at_the_start_or_in_the_middle() -> None:
    for at_point in ("start", "middle"):
        async with server(Break(at=at_point, times=0, piece=4)) as at:
            with pytest.raises(openai.APIConnectionError):
                await ask_chat(at)
            with pytest.raises(anthropic.APIConnectionError):
                await ask_claude(at)
    async with server(Break(at="middle", piece=4)) as at:
        got = 0
        with pytest.raises(Exception, match=r"incomplete chunked read|peer closed|Connection error"):
            async for _ in await ask_chat(at, stream=True):
                got += 1
        assert got > 1


async def test_an_error_inside_a_stream_comes_after_a_good_beginning() -> None:
    async with server(Fail(status=529, in_stream=True, times=0)) as at:
        kinds = []
        with pytest.raises(anthropic.APIStatusError, match="Overloaded"):
            async for event in await ask_claude(at, stream=True):
                kinds.append(event.type)
        assert kinds == ["message_start"]
        responses = [event async for event in await ask_responses(at, stream=True)]
        assert responses[-1].type == "response.failed"
        with pytest.raises(openai.APIError):
            async for _ in await ask_chat(at, stream=True):
                pass


async def test_a_hanging_turn_ends_with_the_server_and_is_heard() -> None:
    async with server(Hang()) as at:
        asking = asyncio.create_task(ask_chat(at))
        await at.heard(1)
        assert at.asked[0].kind == "Hang"
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking


async def test_broken_calls_are_broken_json() -> None:
    async with server(Malformed(times=0)) as at:
        chat = (await ask_chat(at, tools=[CHAT_TOOL])).choices[0].message.tool_calls[0].function.arguments
        responses = (await ask_responses(at, tools=[EXEC_TOOL])).output[0].arguments
        pieces = [
            event.delta.partial_json
            async for event in await ask_claude(at, tools=[CLAUDE_TOOL], stream=True)
            if event.type == "content_block_delta"
        ]
    for arguments in (chat, responses, "".join(pieces)):
        assert arguments == '{"command": "echo broken'


@pytest.mark.parametrize(
    ("prompt", "command", "done"),
    [
        ('answer {"commands": [{"keystrokes": ..}]}', '"keystrokes": "ls\\n"', '"task_complete": true'),
        ("answer <keystrokes duration>", '<keystrokes duration="1.0">ls\n</keystrokes>', "<task_complete>true"),
        ("echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT", "```bash\nls\n```", "COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"),
        ("do it", "```bash\nls\n```", "Done."),
    ],
)
async def test_programs_without_tools_are_answered_in_the_way_their_prompt_asks_for(
    prompt: str, command: str, done: str
) -> None:
    async with server(Run(command="ls"), Done()) as at:
        first = (await ask_chat(at, user(prompt))).choices[0].message.content
        history = (user(prompt), {"role": "assistant", "content": first}, user("$"))
        second = (await ask_chat(at, *history)).choices[0].message.content
    assert command in first
    assert done in second


async def test_a_tool_is_called_by_the_end_of_its_name_and_a_missing_one_is_told() -> None:
    add: Any = {"name": "mcp__sums__add", "input_schema": {"type": "object"}}
    async with server(Use(tool="add", arguments={"a": 1})) as at:
        called = (await ask_claude(at, tools=[CLAUDE_TOOL, add])).content[0]
        missing = (await ask_claude(at, tools=[CLAUDE_TOOL])).content[0]
    assert (called.name, called.input) == ("mcp__sums__add", {"a": 1})
    assert missing.text == "No tool named add is offered; there are: Bash."


async def test_what_programs_ask_besides_is_answered_and_uses_up_no_turn() -> None:
    async with server(Say(text="one")) as at:
        async with claude_client(at) as client:
            counted = await client.messages.count_tokens(model="m", messages=[user("do it")])
            models = [model.id async for model in client.models.list()]
        async with chat_client(at) as chat:
            listed = [model.id async for model in chat.models.list()]
            assert (await chat.models.retrieve("m")).id == "m"
            with pytest.raises(openai.NotFoundError):
                await chat.files.list()
        assert at.asked == []
    assert counted.input_tokens > 0
    assert models == listed == ["scripted"]


async def test_usage_may_be_missing() -> None:
    async with server(Say(text="one", told=False)) as at:
        assert (await ask_chat(at)).usage is None
        assert (await ask_responses(at)).usage is None


async def test_memory_is_bounded_by_requests_and_by_conversations(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.models.scripted.progress.MOST_CONVERSATIONS", 3)
    async with server(Fail(status=500), Say(text=Stop.END), keep=4) as at:
        for number in range(9):
            with pytest.raises(openai.InternalServerError):
                await ask_chat(at, user(f"conversation {number}"))
        assert len(at.requests) == 4
        assert len(at._progress._served) == 3


async def test_a_websocket_is_refused_in_a_way_that_sends_codex_on_to_http() -> None:
    async with server(Say(text="hi")) as at, aiohttp.ClientSession() as session:
        with pytest.raises(aiohttp.WSServerHandshakeError) as caught:
            await session.ws_connect(f"{at.base_url(Wire.OPENAI_RESPONSES)}/responses")
        assert (caught.value.status, at.count) == (426, 0)
