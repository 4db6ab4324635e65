"""ending.py <URL ending in /v1>: what clients are told whose answers are not ready when the server ends. serve_test.cpp
starts the server, one text at a time, and ends it when this says that it has asked."""
import http.client
import json
import sys
import time
import urllib.parse

host = urllib.parse.urlparse(sys.argv[1]).netloc


def asked(**more):
    """A connection on which more texts are asked for than are written within a second."""
    connection = http.client.HTTPConnection(host, timeout=20)
    body = json.dumps({"prompt": "First", "max_tokens": 30, "n": 120, "logprobs": 20, **more})
    connection.request("POST", "/v1/completions", body, {"Content-Type": "application/json"})
    return connection


streamed = asked(stream=True)
stream = streamed.getresponse()
event = stream.readline()
assert stream.status == 200 and event.startswith(b"data: "), (stream.status, event)
waiting = asked()
time.sleep(0.1)
print("asked", flush=True)

whole = waiting.getresponse()
error = json.loads(whole.read())["error"]
assert (whole.status, error["message"]) == (503, "the server ends"), (whole.status, error)
events = stream.read().removeprefix(b"\n").removesuffix(b"\n\n").split(b"\n\n")
last = json.loads(events[-1].removeprefix(b"data: "))
assert last["error"]["message"] == "the server ends", last
