"""tools.py <URL ending in /v1>: calls of tools through the openai package. serve_test.cpp starts a server whose model
has learned to answer "ask" with a call of f."""
import json
import sys

import openai

client = openai.OpenAI(base_url=sys.argv[1], api_key="none", max_retries=0, timeout=30)
TOOLS = [{"type": "function", "function": {"name": "f", "description": "Of use", "parameters": {"type": "object", "properties": {}}}}]
ASK = {"role": "user", "content": "ask"}


def chat(messages, **more):
    return client.chat.completions.create(model="tiny_llama", messages=messages, temperature=0, max_tokens=24, **more)


whole = chat([ASK], tools=TOOLS).choices[0]
assert whole.finish_reason == "tool_calls" and whole.message.content is None, whole
(call,) = whole.message.tool_calls
assert (call.type, call.function.name, json.loads(call.function.arguments)) == ("function", "f", {}), call

pieces = [piece.choices[0] for piece in chat([ASK], tools=TOOLS, stream=True)]
assert pieces[-1].finish_reason == "tool_calls", pieces
assert not any(piece.delta.content for piece in pieces), pieces
(streamed,) = [told for piece in pieces for told in piece.delta.tool_calls or []]
assert (streamed.index, streamed.function.name, streamed.function.arguments) == (0, "f", call.function.arguments), streamed
assert streamed.id and streamed.id != call.id

# The client answers with what the tool said, and the conversation goes on.
result = {"role": "tool", "tool_call_id": call.id, "content": "ask"}
again = chat([ASK, whole.message.model_dump(exclude_none=True), result], tools=TOOLS)
assert again.choices[0].message.tool_calls[0].function.name == "f", again
# The template writes a token for the call, whose arguments are an empty dict to it, and the result.
offered, without = chat([ASK], tools=TOOLS), chat([ASK], tools=TOOLS, tool_choice="none")
assert again.usage.prompt_tokens == offered.usage.prompt_tokens + 1 + without.usage.prompt_tokens, again
assert offered.usage.prompt_tokens > without.usage.prompt_tokens, offered

text = without.choices[0]
assert text.message.tool_calls is None and text.finish_reason == "stop", text
assert text.message.content.strip() == '<tool_call>{"name": "f", "arguments": {}}</tool_call>', text
# What the model has learned is a call that may be forced, too: it writes the same.
forced = chat([ASK], tools=TOOLS, tool_choice="required", parallel_tool_calls=False).choices[0]
assert forced.finish_reason in ("tool_calls", "length"), forced
if forced.finish_reason == "tool_calls":
    assert [call.function.name for call in forced.message.tool_calls] == ["f"], forced
