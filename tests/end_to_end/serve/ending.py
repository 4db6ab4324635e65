"""ending.py <URL ending in /v1>: what clients are told whose answers are not ready when the server ends. serve_test.cpp
starts the server, one text at a time, with room for all that is asked for here, and ends it when this says that it has
asked."""
import http.client
import json
import socket
import sys
import urllib.parse

host = urllib.parse.urlparse(sys.argv[1]).netloc


def asked(**more):
    """A connection on which 120 texts are asked for."""
    connection = http.client.HTTPConnection(host, timeout=20)
    body = json.dumps({"prompt": "First", "max_tokens": 30, "n": 120, "logprobs": 20, **more})
    connection.request("POST", "/v1/completions", body, {"Content-Type": "application/json"})
    return connection


def wait_until_queued(connection):
    """A tenth of a second after it has the request of a client that sends no more, the server asks whether the client
    is still there, by an interim response that http.client leaves out."""
    connection.sock.shutdown(socket.SHUT_WR)
    assert connection.sock.recv(1, socket.MSG_PEEK)


in_front = [asked() for _ in range(4)]  # which takes far longer than all that follows here
streamed = asked(stream=True, echo=True)
stream = streamed.getresponse()
event = stream.readline()  # the echo, which waits for nothing
assert stream.status == 200 and event.startswith(b"data: "), (stream.status, event)
waiting = asked()
wait_until_queued(waiting)
print("asked", flush=True)

whole = waiting.getresponse()
error = json.loads(whole.read())["error"]
assert (whole.status, error["message"]) == (503, "the server ends"), (whole.status, error)
events = stream.read().removeprefix(b"\n").removesuffix(b"\n\n").split(b"\n\n")
last = json.loads(events[-1].removeprefix(b"data: "))
assert last["error"]["message"] == "the server ends", last
