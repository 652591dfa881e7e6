"""A model server on loopback that does as told: answers, refuses, hangs, cuts off, lies about its name.

`acts` are taken in turn, the last one for ever; an act is a function of the request's body. Run as a script it is a
`vllm serve` that behaves, for tests of what starts one.
"""

import itertools
import json
import os
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

MODEL = "m"


def completion(text="hello", *, finish="stop", model=MODEL, usage=True, **message):
    """The body of a chat completion."""
    tokens = {
        "prompt_tokens": 10,
        "completion_tokens": 5,
        "prompt_tokens_details": {"cached_tokens": 4},
        "completion_tokens_details": {"reasoning_tokens": 2},
    }
    choice = {"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": text, **message}}
    return {"id": "x", "object": "chat.completion", "model": model, "choices": [choice]} | (
        {"usage": tokens} if usage else {}
    )


# --- acts ---------------------------------------------------------------------------------------------------


def says(text="hello", **fields):
    return lambda _: (200, {}, completion(text, **fields))


def raw(body, status=200, **headers):
    return lambda _: (status, headers, body)


def refuses(status, message="no", **headers):
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda _: (status, named, {"error": {"message": message, "code": status}})


def hangs(seconds=30.0):
    return lambda _: seconds


def cuts():
    return lambda _: None


class FaultServer(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def __init__(self, port=0, models=(MODEL,), context=4096):
        super().__init__(("127.0.0.1", port), Handler)
        self.acts, self.bodies, self.paths = [says()], [], []
        self.models, self.context, self.tokens = models, context, None
        self.stopped, self.turn = threading.Event(), threading.Lock()
        self.url = f"http://127.0.0.1:{self.server_port}/v1"

    def next(self, body):
        with self.turn:
            self.bodies.append(body)
            act = self.acts.pop(0) if len(self.acts) > 1 else self.acts[0]
        return act(body)

    def handle_error(self, *_):
        """Clients that go away are part of the plan."""


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.server.paths.append(self.path)
        known = [
            {"id": name, "root": f"weights/{name}", "max_model_len": self.server.context} for name in self.server.models
        ]
        answers = {"/v1/models": {"object": "list", "data": known}, "/version": {"version": "9.9"}}
        self.answer(200 if self.path in answers else 404, {}, answers.get(self.path, {}))

    def do_POST(self):
        self.server.paths.append(self.path)
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if self.path == "/tokenize":
            words = sum(len(message["content"].split()) for message in body["messages"])
            return self.answer(200, {}, {"count": words if self.server.tokens is None else self.server.tokens})
        act = self.server.next(body)
        if act is None:
            self.wfile.write(b'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 500\r\n\r\n{"id":')
            self.close_connection = True
            return None
        if isinstance(act, float):
            self.server.stopped.wait(act)
            self.close_connection = True
            return None
        return self.answer(*act)

    def answer(self, status, headers, body):
        payload = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        for name, value in {"content-type": "application/json", "content-length": str(len(payload)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(payload)

    def log_message(self, *_):
        pass


def main(arguments):
    """Take the arguments of `vllm` and serve like it, ready FAKE_DELAY seconds from now."""
    given = dict(itertools.pairwise(arguments))
    server = FaultServer(int(given["--port"]), models=(given["--served-model-name"],))
    began, delay = time.monotonic(), float(os.environ.get("FAKE_DELAY", "0"))
    late = says(model=given["--served-model-name"])
    server.acts = [lambda body: refuses(503)(body) if time.monotonic() - began < delay else late(body)]
    server.serve_forever(0.02)


if __name__ == "__main__":
    main(sys.argv[1:])
