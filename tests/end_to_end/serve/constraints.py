"""constraints.py <URL ending in /v1> <tokenizer.json>: answers that must be JSON, by a schema, or calls of tools, through
the openai package, whose pydantic says what is valid. serve_test.cpp starts a server whose model has learned nothing."""
import enum
import json
import sys
import time
import typing

import openai
import pydantic

client = openai.OpenAI(base_url=sys.argv[1], api_key="none", max_retries=0, timeout=120)
MODEL, ASK = "quickstart", [{"role": "user", "content": "ask"}]
# The model finds all tokens equally probable. These are made more so, or most texts would be one long string.
with open(sys.argv[2]) as file:
    vocabulary = json.load(file)["model"]["vocab"]
ENDS = {str(vocabulary[token]): bias for token, bias in (('"', 6), ("}", 3), ("]", 3))}


class Strict(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra="forbid", strict=True)


class Colour(str, enum.Enum):
    red = "red"
    dark = "dark \"blue\""
    light = "glaçé"


class Node(Strict):
    value: int
    next: typing.Optional["Node"]


class Answer(Strict):
    title: str
    colour: Colour
    exact: typing.Literal[7]
    rating: typing.Union[int, bool, None]
    price: float
    tags: list[typing.Literal["a", "ab", "é"]]
    node: Node


def chat(**more):
    return client.chat.completions.create(**{"model": MODEL, "messages": ASK, "max_tokens": 200, "logit_bias": ENDS, **more})


def format_of(model, name="answer"):
    return {"type": "json_schema", "json_schema": {"name": name, "strict": True, "schema": model.model_json_schema()}}


def texts(count=3, **more):
    """Answers of several seeds that have come to their end, and how many have not."""
    choices = [choice for seed in range(count) for choice in chat(seed=seed, n=16, **more).choices]
    assert {choice.finish_reason for choice in choices} <= {"stop", "length", "tool_calls"}, choices
    ended = [choice for choice in choices if choice.finish_reason != "length"]
    return ended, len(choices) - len(ended)


def objects():
    ended, cut = texts(response_format={"type": "json_object"})
    assert len(ended) >= 12, (len(ended), cut)
    for choice in ended:
        assert isinstance(json.loads(choice.message.content), dict), choice
    assert len({choice.message.content for choice in ended}) > 3


def schemas():
    ended, cut = texts(response_format=format_of(Answer))
    assert len(ended) >= 12, (len(ended), cut)
    for choice in ended:
        Answer.model_validate_json(choice.message.content)
        assert list(json.loads(choice.message.content)) == list(Answer.model_fields), choice
    greedy = chat(response_format=format_of(Node), temperature=0, logit_bias={}).choices[0]
    if greedy.finish_reason == "stop":
        Node.model_validate_json(greedy.message.content)
    # In the ways in which tokens are chosen otherwise, too.
    for more in ({"top_p": 0.3}, {"temperature": 2, "extra_body": {"top_k": 5}}, {"extra_body": {"min_p": 0.5}}, {"presence_penalty": 2}):
        for choice in texts(1, response_format=format_of(Node), **more)[0]:
            Node.model_validate_json(choice.message.content)


def as_the_package_parses():
    answers = 0
    for seed in range(30):
        try:
            answer = client.chat.completions.parse(model=MODEL, messages=ASK, max_tokens=200, seed=seed, logit_bias=ENDS,
                                                   response_format=Node)
        except openai.LengthFinishReasonError:
            continue
        assert isinstance(answer.choices[0].message.parsed, Node), answer
        answers += 1
    assert answers > 5, answers


def tool(name, model, **more):
    return {"type": "function", "function": {"name": name, "description": "Of use", "parameters": model.model_json_schema(), **more}}


TOOLS = [tool("plan", Node, strict=True), {"type": "function", "function": {"name": "look_up"}}]


def check_calls(message, names):
    assert message.content is None and message.tool_calls, message
    for call in message.tool_calls:
        assert call.function.name in names, call
        arguments = json.loads(call.function.arguments)
        assert isinstance(arguments, dict), call
        if call.function.name == "plan":
            Node.model_validate_json(call.function.arguments)


def forced_calls():
    ended, cut = texts(tools=TOOLS, tool_choice="required")
    assert len(ended) >= 12, (len(ended), cut)
    for choice in ended:
        assert choice.finish_reason == "tool_calls", choice
        check_calls(choice.message, ("plan", "look_up"))
    assert {call.function.name for choice in ended for call in choice.message.tool_calls} == {"plan", "look_up"}
    for choice in texts(2, tools=TOOLS, tool_choice="required", parallel_tool_calls=False)[0]:
        check_calls(choice.message, ("plan", "look_up"))
        assert len(choice.message.tool_calls) == 1, choice
    by_name, cut = texts(2, tools=TOOLS, tool_choice={"type": "function", "function": {"name": "plan"}})
    assert len(by_name) >= 6, (len(by_name), cut)
    for choice in by_name:
        assert choice.finish_reason == "stop" and len(choice.message.tool_calls) == 1, choice
        check_calls(choice.message, ("plan",))


def streams():
    for seed in range(8):
        more = {"seed": seed, "response_format": format_of(Answer)}
        whole = chat(**more).choices[0]
        pieces = [piece.choices[0] for piece in chat(stream=True, **more)]
        assert "".join(piece.delta.content or "" for piece in pieces) == whole.message.content, (pieces, whole)
        assert pieces[-1].finish_reason == whole.finish_reason
        more = {"seed": seed, "tools": TOOLS, "tool_choice": "required", "parallel_tool_calls": False}
        whole = chat(**more).choices[0]
        pieces = [piece.choices[0] for piece in chat(stream=True, **more)]
        assert pieces[-1].finish_reason == whole.finish_reason
        calls = [call for piece in pieces for call in piece.delta.tool_calls or []]
        assert [call.function for call in calls] == [call.function for call in whole.message.tool_calls or []] or (
            [(call.function.name, call.function.arguments) for call in calls]
            == [(call.function.name, call.function.arguments) for call in whole.message.tool_calls])


def refusals():
    def schema(value):
        return {"response_format": {"type": "json_schema", "json_schema": {"name": "a", "schema": value}}}

    place = "response_format.json_schema.schema"
    many = {f"property {i}": {"type": "string"} for i in range(20_000)}
    for more, param in [
            (schema({"properties": {"a": {"type": "string", "pattern": "x"}}}), place + ".properties.a.pattern"),
            (schema({"oneOf": []}), place + ".oneOf"), (schema({"$ref": "#"}), place),
            (schema({"$ref": "https://example.com/schema"}), place + ".$ref"),
            (schema({"$ref": "#/$defs/none"}), place + ".$ref"), (schema({"enum": []}), place + ".enum"),
            (schema({"type": "object", "required": ["a"]}), place + ".required.0"),
            (schema({"properties": many}), place), (schema({"minItems": 2, "maxItems": 1, "type": "array"}), place),
            ({"response_format": {"type": "grammar"}}, "response_format.type"),
            ({"tool_choice": "required"}, "tool_choice"),
            ({"tools": TOOLS, "tool_choice": {"type": "function", "function": {"name": "none"}}}, "tool_choice.function.name"),
            ({"tools": [{"type": "function", "function": {"name": "f", "strict": True, "parameters": {"format": "x"}}}]},
             "tools.0.function.parameters.format")]:
        begin = time.monotonic()
        try:
            chat(**more)
            raise SystemExit(f"{param} is not refused")
        except openai.BadRequestError as error:
            assert error.param == param, (error, param)
            assert "\n" not in error.body["message"] and len(error.body["message"]) < 400, error.body
        assert time.monotonic() - begin < 60, param  # it takes one at most, and a busy machine many times as long


for check in (objects, schemas, as_the_package_parses, forced_calls, streams, refusals):
    begin = time.monotonic()
    check()
    print(f"{check.__name__}: {time.monotonic() - begin:.2f} s", flush=True)
