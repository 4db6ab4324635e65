"""tools.py <URL ending in /v1>: calls of tools through the openai package, and who may ask at all. serve_test.cpp starts
a server without a key whose model has learned to answer "ask" with a call of f."""
import http.client
import json
import re
import sys
import urllib.parse

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
assert re.fullmatch("[0-9A-Za-z]{9}", call.id), call  # as Mistral's template wants it

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


def status(method, path, *hosts, body=None):
    """Of the answer to a request that names these hosts."""
    url = urllib.parse.urlparse(sys.argv[1])
    connection = http.client.HTTPConnection(url.hostname, url.port, timeout=30)
    connection.putrequest(method, path, skip_host=True)
    for host in hosts:
        connection.putheader("Host", host)
    if body:
        connection.putheader("Content-Type", "application/json")
        connection.putheader("Content-Length", str(len(body)))
    connection.endheaders(body)
    answer = connection.getresponse()
    said = json.loads(answer.read())
    connection.close()
    assert answer.status != 403 or "--api-key-file" in said["error"]["message"], said
    return answer.status


# A page in a browser whose name has come to mean this machine (DNS rebinding) names itself as the host.
port = urllib.parse.urlparse(sys.argv[1]).port
for host in ("localhost", f"localhost:{port}", f"127.0.0.1:{port}", f"[::1]:{port}"):
    assert status("GET", "/v1/models", host) == 200, host
for host in ("page.example", f"page.example:{port}", "127.0.0.1.page.example", "localhost.page.example"):
    assert status("GET", "/v1/models", host) == 403, host
    assert status("GET", "/health", host) == 403, host
    assert status("POST", "/v1/completions", host, body=b'{"prompt": "ask"}') == 403, host
assert status("GET", "/v1/models", f"127.0.0.1:{port}", "page.example") == 403
assert status("POST", "/v1/completions", "localhost", body=b'{"prompt": "ask", "max_tokens": 1}') == 200
