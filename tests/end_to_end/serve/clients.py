"""clients.py <URL ending in /v1> <greedy text of "First", as generate writes it>: what clients may ask of `serve`, and
what hostile ones may try. serve_test.cpp starts the server, with limits that this relies on, and this script."""
import http.client
import json
import math
import socket
import sys
import threading
import time
import urllib.parse

import openai

url, greedy_text = sys.argv[1], sys.argv[2]
host, port = urllib.parse.urlparse(url).hostname, urllib.parse.urlparse(url).port


def new_client():
    return openai.OpenAI(base_url=url, api_key="a_key", max_retries=0, timeout=30)


client = new_client()
MODEL = "tiny_llama"


def complete(prompt="First", **more):
    return client.completions.create(model=MODEL, prompt=prompt, **{"max_tokens": 8, "seed": 3, **more})


def chat(messages, **more):
    return client.chat.completions.create(model=MODEL, messages=messages, **{"max_tokens": 8, "seed": 3, **more})


def same(a, b):
    assert a == b, (a, b)


# Completions.

def models():
    same([model.id for model in client.models.list()], [MODEL])
    same(client.models.retrieve(MODEL).id, MODEL)


def greedy_as_generate():
    answer = complete(temperature=0, max_tokens=12)
    same(answer.choices[0].text, greedy_text)
    same(answer.choices[0].finish_reason, "length")
    same((answer.usage.prompt_tokens + answer.usage.completion_tokens, answer.usage.completion_tokens),
         (answer.usage.total_tokens, 12))


def seeds():
    same(complete().choices[0].text, complete().choices[0].text)
    assert len({complete(seed=seed).choices[0].text for seed in range(4)}) > 1
    assert len({complete(seed=None).choices[0].text for _ in range(4)}) > 1
    samples = [choice.text for choice in complete(n=3).choices]
    same(samples[0], complete().choices[0].text)
    assert len(set(samples)) == 3


def prompts_of_all_kinds():
    answer = complete(prompt=["First", "O king"], n=2, temperature=0)
    same([choice.index for choice in answer.choices], [0, 1, 2, 3])
    same(answer.choices[0].text, answer.choices[1].text)
    same(answer.choices[2].text, complete(prompt="O king", temperature=0).choices[0].text)
    ids = [5, 300, 17]
    alone = complete(prompt=ids, temperature=0).choices[0].text
    same([choice.text for choice in complete(prompt=[ids, [9]], temperature=0).choices][0], alone)
    assert complete(prompt="").choices[0].text


def stops():
    text = complete(temperature=0, max_tokens=12).choices[0].text
    stop = text[3:5]
    answer = complete(temperature=0, max_tokens=12, stop=["never to come", stop]).choices[0]
    same((answer.text, answer.finish_reason), (text[:text.index(stop)], "stop"))


def bytes_of(token):
    return bytes.fromhex(token[6:].replace("\\x", "")) if token.startswith("bytes:") else token.encode()


def log_probabilities():
    written = complete(temperature=0, logprobs=3, echo=True).choices[0]
    same(written.text[:5], "First")
    logs = written.logprobs
    same(b"".join(map(bytes_of, logs.tokens)).decode(errors="replace"), written.text)
    for token, at in zip(logs.tokens, logs.text_offset):
        if token.startswith("bytes:"):
            break
        same(written.text[at:][:len(token)], token)
    same((logs.token_logprobs[0], logs.top_logprobs[0]), (None, None))
    for token, own, best in list(zip(logs.tokens, logs.token_logprobs, logs.top_logprobs))[-8:]:
        same(len(best), 3)
        assert math.isclose(own, best[token], abs_tol=1e-9) and own == max(best.values()), (token, own, best)
    # What one pass over a whole text says of a token is what it had when it was chosen behind the others.
    ids = [5, 300, 17, 40, 200]
    whole = complete(prompt=ids, max_tokens=0, echo=True, logprobs=0).choices[0].logprobs.token_logprobs
    same(len(whole), len(ids))
    for n in range(1, len(ids)):
        chosen = complete(prompt=ids[:n], max_tokens=1, logprobs=0, logit_bias={str(ids[n]): 100}).choices[0].logprobs
        assert math.isclose(chosen.token_logprobs[0], whole[n], abs_tol=1e-4), (n, chosen, whole)
        same(chosen.top_logprobs, [{chosen.tokens[0]: chosen.token_logprobs[0]}])
    same(len(complete(prompt=ids, max_tokens=1, echo=True, logprobs=1).choices[0].logprobs.tokens), len(ids) + 1)
    # The names of special tokens are told, and are no part of the text.
    special = complete(prompt=[2, 70, 1, 71], max_tokens=0, echo=True, logprobs=0).choices[0]
    same([name for name in special.logprobs.tokens if name.startswith("<|")], ["<|im_end|>", "<|im_start|>"])
    same(special.text, special.logprobs.tokens[1] + special.logprobs.tokens[3])
    same(special.logprobs.text_offset, [0, 0, 1, 1])
    # Those that a prompt of text spells are part of its text; what is put before an empty one isn't.
    spelled = {"prompt": "a<|im_end|>b", "echo": True, "logprobs": 0}
    for more, offsets in (({"max_tokens": 0}, [0, 1, 11]),
                          ({"max_tokens": 1, "logit_bias": {"2": 100}}, [0, 1, 11, 12])):
        whole = complete(**spelled, **more).choices[0]
        same((whole.text, whole.logprobs.text_offset), (spelled["prompt"], offsets))
        pieces = [piece.choices[0] for piece in complete(**spelled, **more, stream=True)]
        same("".join(piece.text for piece in pieces), spelled["prompt"])
        same([at for piece in pieces if piece.logprobs for at in piece.logprobs.text_offset], offsets)
    empty = complete(prompt="", max_tokens=1, echo=True, logprobs=0).choices[0]
    same(empty.logprobs.text_offset, [0, 0])


def streams():
    whole = complete(seed=11).choices[0]
    pieces = list(complete(seed=11, stream=True, stream_options={"include_usage": True}))
    same("".join(piece.choices[0].text for piece in pieces[:-1]), whole.text)
    same([piece.choices[0].finish_reason for piece in pieces[:-1]][-1], whole.finish_reason)
    same((pieces[-1].choices, pieces[-1].usage.completion_tokens), ([], 8))
    several = {0: "", 1: ""}
    for piece in complete(prompt=["First", "O king"], temperature=0, stream=True, logprobs=1, echo=True):
        several[piece.choices[0].index] += piece.choices[0].text
    same(several[0], "First" + complete(temperature=0).choices[0].text)


def biases_and_penalties():
    letter = complete(prompt=[70], max_tokens=0, echo=True).choices[0].text
    same(complete(logit_bias={"70": 100}, max_tokens=3).choices[0].text, letter * 3)
    same(complete(extra_body={"top_k": 1}).choices[0].text, complete(temperature=0).choices[0].text)
    same(complete(top_p=0).choices[0].text, complete(temperature=0).choices[0].text)
    complete(frequency_penalty=2, presence_penalty=-2, user="somebody",
             extra_body={"min_p": 0.1, "repetition_penalty": 1.3, "best_of": 1})


def many_at_once():
    alone = {prompt: complete(prompt=prompt, temperature=0).choices[0].text for prompt in ("First", "O king", "We")}
    answers = []

    def ask(prompt):
        answers.append((prompt, complete(prompt=prompt, temperature=0).choices[0].text))

    threads = [threading.Thread(target=ask, args=(prompt,)) for prompt in list(alone) * 2]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    same(len(answers), 6)
    for prompt, text in answers:
        same(text, alone[prompt])


def chats():
    talk = [{"role": "system", "content": "O"}, {"role": "user", "content": [{"type": "text", "text": "We"}]}]
    whole = chat(talk, logprobs=True, top_logprobs=2)
    same(whole.choices[0].message.role, "assistant")
    assert len(whole.choices[0].logprobs.content[0].top_logprobs) == 2
    as_text = "<|im_start|>system\nO<|im_end|>\n<|im_start|>user\nWe<|im_end|>\n<|im_start|>assistant\n"
    same(whole.choices[0].message.content, complete(prompt=as_text).choices[0].text)
    same(whole.usage.prompt_tokens, complete(prompt=as_text).usage.prompt_tokens)
    pieces = list(chat(talk, stream=True))
    same(pieces[0].choices[0].delta.role, "assistant")
    same("".join(piece.choices[0].delta.content or "" for piece in pieces), whole.choices[0].message.content)


# Mistakes: status, the field that the error names, and a part of what it says.

def post(path, body):
    """The answer to a body of bytes, as (status, error or answer)."""
    head = (f"POST /v1/{path} HTTP/1.1\r\nHost: here\r\nAuthorization: Bearer a_key\r\nConnection: close\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n")
    return answer_to(head.encode() + body)


def answer_to(sent, then=lambda connection: None):
    with socket.create_connection((host, port), timeout=20) as connection:
        try:
            connection.sendall(sent)
            then(connection)
        except OSError:  # it closes on those who send too much
            pass
        return received(connection)


def received(connection):
    answer = b""
    while True:
        try:
            more = connection.recv(65536)
        except ConnectionResetError:
            break
        if not more:
            break
        answer += more
    head, _, body = answer.partition(b"\r\n\r\n")
    if not head:
        return None, {}
    return int(head.split()[1]), json.loads(body) if body.startswith(b"{") else body


def mistakes():
    text, talk = {"prompt": "First"}, {"messages": [{"role": "user", "content": "We"}]}
    for path, body, status, field in [
            ("completions", {**text, "max_tokns": 3}, 400, "max_tokns"),
            ("completions", {**text, "model": "gpt-4"}, 404, "model"),
            ("chat/completions", {"messages": [{"role": "user", "content": "too much"}]}, 400, "messages"),
            ("completions", {}, 400, "prompt"), ("completions", {"prompt": 5}, 400, "prompt"),
            ("completions", {"prompt": []}, 400, "prompt"), ("completions", {"prompt": [[]]}, 400, "prompt"),
            ("completions", {"prompt": ["a", 5]}, 400, "prompt"), ("completions", {"prompt": [1, "a"]}, 400, "prompt"),
            ("completions", {"prompt": [512]}, 400, "prompt"), ("completions", {"prompt": [-1]}, 400, "prompt"),
            ("completions", {"prompt": [2**63]}, 400, "prompt"), ("completions", {"prompt": [1] * 33}, 400, "prompt"),
            ("completions", {"prompt": ["a"] * 129}, 400, "prompt"), ("completions", {**text, "n": 129}, 400, "n"),
            ("completions", {**text, "n": 0}, 400, "n"), ("completions", {**text, "n": 1.5}, 400, "n"),
            ("completions", {**text, "max_tokens": 33}, 400, "max_tokens"),
            ("completions", {**text, "max_tokens": 0}, 400, "max_tokens"),
            ("completions", {**text, "max_tokens": 2**64 - 1}, 400, "max_tokens"),
            ("completions", {**text, "temperature": 2.1}, 400, "temperature"),
            ("completions", {**text, "temperature": "hot"}, 400, "temperature"),
            ("completions", {**text, "top_p": -1}, 400, "top_p"), ("completions", {**text, "top_k": -2}, 400, "top_k"),
            ("completions", {**text, "stop": ""}, 400, "stop"), ("completions", {**text, "stop": [1]}, 400, "stop"),
            ("completions", {**text, "logit_bias": {"a": 1}}, 400, "logit_bias"),
            ("completions", {**text, "logit_bias": {"512": 1}}, 400, "logit_bias"),
            ("completions", {**text, "logit_bias": {"5": 101}}, 400, "logit_bias"),
            ("completions", {**text, "logprobs": 21}, 400, "logprobs"),
            ("completions", {**text, "stream": 1}, 400, "stream"),
            ("completions", {**text, "stream_options": {}}, 400, "stream_options"),
            ("completions", {**text, "stream": True, "stream_options": {"x": 1}}, 400, "stream_options.x"),
            ("completions", {**text, "suffix": "s"}, 400, "suffix"),
            ("completions", {**text, "seed": 0.5}, 400, "seed"), ("completions", {**text, "n": 9}, 400, "n"),
            ("chat/completions", {"messages": []}, 400, "messages"),
            ("chat/completions", {"messages": ["a"]}, 400, "messages.0"),
            ("chat/completions", {"messages": [{"role": "king", "content": ""}]}, 400, "messages.0.role"),
            ("chat/completions", {"messages": [{"role": "user"}]}, 400, "messages.0.content"),
            ("chat/completions", {"messages": [{"role": "user", "content": [{"type": "image_url"}]}]}, 400,
             "messages.0.content.0.type"),
            ("chat/completions", {**talk, "tools": [{}]}, 400, "tools.0.type"),
            ("chat/completions", {**talk, "response_format": {"type": "json"}}, 400, "response_format.type"),
            ("chat/completions", {**talk, "tool_choice": "required"}, 400, "tool_choice"),
            ("chat/completions", {**talk, "top_logprobs": 1}, 400, "top_logprobs"),
            ("chat/completions", {**talk, "metadata": {"kept": "as"}}, 400, "metadata"),
            ("chat/completions", {"messages": [{"role": "user", "content": "We " * 50}]}, 400, "messages")]:
        got, answer = post(path, json.dumps(body).encode())
        assert (got, answer["error"]["param"]) == (status, field), (body, got, answer)
        assert answer["error"]["message"] and answer["error"]["type"]
    harmless = {**talk, "tools": [], "tool_choice": "none", "response_format": {"type": "text"}, "store": None,
                "metadata": {}}
    same(post("chat/completions", json.dumps(harmless).encode())[0], 200)
    for body in (b"", b"{", b"[]", b"5", b"\xff", b'{"prompt": "\xff"}', b'{"prompt": "\\ud800"}', b"[" * 100_000,
                 b'{"user":' * 10_000, b'{"temperature": 1e999, "prompt": "a"}', b'{"prompt": "a"} more', b"\0"):
        same(post("completions", body)[0], 400)


# Clients that are slow, or hostile.

HEAD = b"POST /v1/completions HTTP/1.1\r\nHost: here\r\nAuthorization: Bearer a_key\r\nContent-Type: application/json\r\n"
GET = b"GET /v1/models HTTP/1.1\r\nHost: here\r\nAuthorization: Bearer a_key\r\n"


def wrong_requests():
    same(answer_to(b"GET /v1/models HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n")[0], 401)
    same(answer_to(GET.replace(b"a_key", b"another") + b"Connection: close\r\n\r\n")[0], 401)
    for request, status in ((GET.replace(b"models", b"nothing"), 404), (GET.replace(b"models", b"completions"), 405),
                            (GET.replace(b"GET", b"DELETE"), 405), (GET.replace(b"GET", b"POST"), 405),
                            (GET.replace(b"models", b"m" * 7000), 404), (GET.replace(b"models", b"m" * 9000), 414),
                            (GET + b"Range: bytes=" + b"0-1," * 2000 + b"\r\n", 200),
                            (GET + b"Accept-Encoding: gzip, br\r\n", 200),
                            (HEAD + b"Content-Encoding: gzip\r\nContent-Length: 5\r\n", 415),
                            (HEAD.replace(b"application/json", b"multipart/form-data") + b"Content-Length: 5\r\n", 415),
                            (HEAD.replace(b"application/json", b"text/plain") + b"Content-Length: 5\r\n", 415)):
        same(answer_to(request + b"Connection: close\r\n\r\n")[0], status)
    for garbage in (b"\0\0\0\0\r\n\r\n", b"GET\r\n\r\n", b"HELLO / HTTP/1.1\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n"):
        status, _ = answer_to(garbage)
        assert status is None or status >= 400, (garbage, status)


def too_large():
    same(answer_to(HEAD + b"X: " + b"x" * 20_000 + b"\r\n\r\n")[0], 431)
    same(answer_to(HEAD + b"X: x\r\n" * 200 + b"\r\n")[0], 431)
    same(answer_to(b"GET /" + b"x" * 1_000_000)[0], 431)
    same(answer_to(HEAD + b"Content-Length: 999999999999\r\n\r\n")[0], 413)
    same(answer_to(HEAD + b"Content-Length: 200000\r\n\r\n" + b" " * 200_000)[0], 413)
    chunks = b"10000\r\n" + b" " * 65536 + b"\r\n"
    assert answer_to(HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + chunks * 40)[0] in (413, None)


def slow():
    """The server waits a second for a head, and a second for a body."""
    begin = time.monotonic()

    def drip(connection):
        while time.monotonic() < begin + 8:
            connection.sendall(b"X: x\r\n")
            time.sleep(0.1)

    statuses = {}

    def send(name, sent, then):
        statuses[name] = answer_to(sent, then)[0]

    threads = [threading.Thread(target=send, args=request)
               for request in (("head", HEAD, drip),
                               ("body", HEAD + b"Content-Length: 9999\r\n\r\n{", drip),
                               ("no end", HEAD + b"Content-Length: 9999\r\n\r\n{", lambda connection: None))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert statuses["head"] in (408, None) and statuses["body"] in (408, None), statuses
    same(statuses["no end"], 408)
    assert time.monotonic() - begin < 6, time.monotonic() - begin


def half_closed():
    """A client that says that it sends no more, as nc -N and some proxies do, and reads on."""
    for asked in ({}, {"stream": True}):
        connection = http.client.HTTPConnection(host, port, timeout=20)
        body = json.dumps({"prompt": "First", "temperature": 0, "max_tokens": 12, **asked})
        connection.request("POST", "/v1/completions", body,
                           {"Authorization": "Bearer a_key", "Content-Type": "application/json"})
        connection.sock.shutdown(socket.SHUT_WR)
        answer = connection.getresponse()
        lines = answer.read().decode().removeprefix("data: ").split("\n\ndata: ")
        same((answer.status, lines[1:][-1:]), (200, ["[DONE]\n\n"] if asked else []))
        same("".join(json.loads(line)["choices"][0]["text"] for line in lines[:-1] or lines), greedy_text)


def stalled():
    """One that reads nothing of its streams: the server waits a second for it, and serves others meanwhile."""
    body = json.dumps({"prompt": "First", "max_tokens": 30, "stream": True, "logprobs": 20, "n": 4}).encode()
    requests = 60
    with socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        connection.connect((host, port))
        connection.sendall((HEAD + b"Content-Length: %d\r\n\r\n" % len(body) + body) * requests)
        greedy_as_generate()
        wait_until_others_are_gone()
        connection.settimeout(0.2)
        taken = b""
        try:
            while more := connection.recv(1 << 20):
                taken += more
        except (ConnectionResetError, TimeoutError):
            pass
        assert 0 < taken.count(b"data: ") and taken.count(b"[DONE]") < requests, len(taken)


def half_requests():
    for sent in (b"", b"P", HEAD, HEAD + b"Content-Length: 100\r\n\r\n{\"prompt\":"):
        with socket.create_connection((host, port)) as connection:
            connection.sendall(sent)


def gone_in_the_middle():
    body = json.dumps({"prompt": "First", "max_tokens": 30, "stream": True, "logprobs": 20, "n": 4}).encode()
    for _ in range(10):
        with socket.create_connection((host, port)) as connection:
            connection.sendall(HEAD + b"Content-Length: %d\r\n\r\n" % len(body) + body)
            connection.recv(10)
    for _ in range(5):
        with socket.create_connection((host, port)) as connection:
            connection.sendall(HEAD + b"Content-Length: %d\r\n\r\n" % len(body) + body)


def pipelined():
    body = json.dumps({"prompt": "First", "max_tokens": 2}).encode()
    request = HEAD + b"Content-Length: %d\r\n\r\n" % len(body) + body
    last = request.replace(b"Host", b"Connection: close\r\nHost", 1)
    with socket.create_connection((host, port), timeout=20) as connection:
        connection.sendall(request + b"\r\n" + GET + b"\r\n" + last)
        answer = b""
        while more := connection.recv(65536):
            answer += more
    same((answer.count(b"HTTP/1.1 200"), answer.count(b"text_completion")), (3, 2))


def one_answer(connection):
    """The status of one answer, whose connection may go on."""
    with connection.makefile("rb") as answer:
        status, size = int(answer.readline().split()[1]), 0
        while line := answer.readline().strip():
            name, _, value = line.partition(b":")
            size = int(value) if name.lower() == b"content-length" else size
        answer.read(size)
    return status


def refused(number):
    """Of so many connections at once, how many are told to come back later. The others are served, and at their end
    when this returns."""
    held = [socket.create_connection((host, port), timeout=20) for _ in range(number)]
    try:
        for connection in held:
            connection.sendall(GET + b"\r\n")
        served = [connection for connection in held if one_answer(connection) == 200]
        for connection in served:
            connection.sendall(GET + b"Connection: close\r\n\r\n")
        for connection in served:
            same(received(connection)[0], 200)
    finally:
        for connection in held:
            connection.close()
    return number - len(served)


def wait_until_others_are_gone():
    global client
    client.close()  # it keeps a connection
    until = time.monotonic() + 20
    while refused(8) != 0:
        assert time.monotonic() < until
        time.sleep(0.05)
    client = new_client()


def too_many_connections():
    same(refused(12), 4)
    same(refused(8), 0)


def one_after_another():
    """Nobody who opens a connection when the one before has ended is told that there are too many."""
    for _ in range(100):
        same(answer_to(GET + b"Connection: close\r\n\r\n")[0], 200)


for check in (models, greedy_as_generate, seeds, prompts_of_all_kinds, stops, log_probabilities, streams,
              biases_and_penalties, many_at_once, chats, mistakes, wrong_requests, too_large, slow, half_requests,
              gone_in_the_middle, wait_until_others_are_gone, half_closed, pipelined, too_many_connections, stalled,
              one_after_another):
    begin = time.monotonic()
    check()
    print(f"{check.__name__}: {time.monotonic() - begin:.2f} s", flush=True)
greedy_as_generate()  # after all that
