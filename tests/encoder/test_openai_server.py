import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

from sodamem.encoder import openai_server
from sodamem.encoder.openai_server import OpenAIEncoder
from sodamem.errors import ConfigError, MissingExtra, ServiceError

KEY = "sk-canary-4711"


class FakeServer(ThreadingHTTPServer):
    """Answers each request with the next scripted (status, headers, body), then with right vectors."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.script, self.requests = [], []
        self.url = f"http://127.0.0.1:{self.server_port}/v1"


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.requests.append((body, {k.lower(): v for k, v in self.headers.items()}))
        status, headers, answer = self.server.script.pop(0) if self.server.script else (200, {}, embeddings(body))
        payload = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        self.send_response(status)
        for name, value in {"content-type": "application/json", "content-length": str(len(payload)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(payload)

    def log_message(self, *_):
        pass


def embeddings(body, vector=lambda text: [float(len(text)), 1.0, 0.0]):
    rows = [{"object": "embedding", "index": i, "embedding": vector(text)} for i, text in enumerate(body["input"])]
    return {
        "object": "list",
        "model": body["model"],
        "data": rows[::-1],
        "usage": {"prompt_tokens": 1, "total_tokens": 1},
    }


def rows(*numbered):
    return {"object": "list", "data": [{"index": index, "embedding": vector} for index, vector in numbered]}


@pytest.fixture
def server():
    with FakeServer() as fake:
        thread = threading.Thread(target=fake.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        yield fake
        fake.shutdown()


@pytest.fixture
def waits(monkeypatch):
    slept = []
    monkeypatch.setattr(openai_server.time, "sleep", slept.append)
    return slept


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv("TEST_KEY", KEY)


def options(**changes):
    common = {"base_url": "http://127.0.0.1:9/v1", "model": "m", "api_key_env": "TEST_KEY"}
    return common | {"batch_size": 2, "timeout": 5.0, "retries": 2} | changes


def fitted(server, **changes):
    return OpenAIEncoder(**options(base_url=server.url, **changes)).fit([])


def test_vectors_follow_the_texts_even_when_the_server_answers_in_another_order(server):
    vectors = fitted(server).encode(["a", "bbb", "cc"])
    expected = np.array([[1, 1, 0], [3, 1, 0], [2, 1, 0]]) / np.sqrt([[1 + 1], [9 + 1], [4 + 1]])
    np.testing.assert_allclose(vectors, expected, atol=1e-7)
    assert vectors.dtype == np.float32
    assert [body["input"] for body, _ in server.requests] == [["dimension"], ["a", "bbb"], ["cc"]]
    assert server.requests[0][1]["authorization"] == f"Bearer {KEY}"


def test_blank_texts_are_zeros_and_never_sent(server):
    vectors = fitted(server).encode(["", "word", " \n"])
    assert not vectors[0].any() and not vectors[2].any() and vectors[1].any()
    assert [body["input"] for body, _ in server.requests] == [["dimension"], ["word"]]


def test_nothing_is_sent_before_the_first_vector_is_asked_for(server):
    assert len(fitted(server).digest) == 64
    assert server.requests == []


def test_one_retry_layer_so_attempts_do_not_multiply(server, waits):
    server.script = [(503, {}, {"error": {"message": "busy"}})] * 9
    with pytest.raises(ServiceError, match=r"answered 503.*after 3 attempts"):
        fitted(server).encode(["a"])
    assert len(server.requests) == 1 + 2
    assert waits == [1.0, 2.0]


def test_retry_after_is_honoured_and_bounded(server, waits):
    busy = {"error": {"message": "slow down"}}
    server.script = [(429, {"retry-after": "7"}, busy), (429, {"retry-after": "86400"}, busy)]
    assert fitted(server).encode(["a"]).shape == (1, 3)
    assert waits == [7.0, 60.0]


@pytest.mark.parametrize("status", [400, 401, 404, 422])
def test_a_refusal_is_not_repeated_and_the_key_is_not_printed(server, waits, status):
    server.script = [(status, {}, {"error": {"message": f"bad key {KEY}\nsecond line"}})]
    with pytest.raises(ServiceError) as caught:
        fitted(server).encode(["a"])
    assert str(status) in str(caught.value) and "\n" not in str(caught.value)
    assert KEY not in str(caught.value)
    assert len(server.requests) == 1 and waits == []


def test_a_server_that_is_not_there_gives_one_line(waits):
    with pytest.raises(ServiceError, match=r"127.0.0.1:9/v1 did not answer.*after 3 attempts. Is the server up?"):
        OpenAIEncoder(**options()).fit([]).encode(["a"])


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (rows((0, [1.0, 2.0, float("nan")]), (1, [1.0, 1.0, 1.0])), "finite"),
        (rows((0, [1.0, 2.0, 3.0]), (0, [1.0, 2.0, 3.0])), "embeddings"),
        (rows((0, [1.0, 2.0, 3.0]), (2, [1.0, 2.0, 3.0])), "embeddings"),
        (rows((0, [1.0, 2.0, 3.0]), (1, [1.0])), "embeddings"),
        (rows((0, []), (1, [])), "finite"),
        (rows((0, [1.0]), (1, [1.0]), (2, [1.0])), "finite"),
        (rows(), "embeddings"),
        ({"hello": "world"}, "embeddings"),
        (b"<html>login</html>", "embeddings"),
        (b"{broken", "embeddings"),
    ],
    ids=["nan", "repeated", "misnumbered", "ragged", "hollow", "too many", "empty", "no data", "html", "not json"],
)
def test_an_answer_that_is_not_vectors_is_refused(server, waits, answer, message):
    server.script = [(200, {}, embeddings({"input": ["x"], "model": "m"})), (200, {}, answer)]
    with pytest.raises(ServiceError, match=message):
        fitted(server).encode(["a", "b"])
    assert waits == []


def test_html_with_its_own_content_type_is_refused(server, waits):
    server.script = [(200, {"content-type": "text/html"}, b"<html>login</html>")]
    with pytest.raises(ServiceError, match=r"embeddings"):
        fitted(server).encode(["a"])


def test_vectors_of_another_length_are_refused(server):
    encoder = fitted(server)
    assert encoder.dimension == 3
    server.script = [(200, {}, embeddings({"input": ["a"], "model": "m"}, vector=lambda _: [1.0, 2.0]))]
    with pytest.raises(ServiceError, match=r"3 numbers a text, got 2"):
        encoder.encode(["a"])


def test_the_digest_tells_models_and_servers_apart():
    digests = {
        OpenAIEncoder(**options(**change)).fit([]).digest
        for change in ({}, {"model": "n"}, {"base_url": "http://127.0.0.1:10/v1"})
    }
    assert len(digests) == 3
    assert OpenAIEncoder(**options(batch_size=64)).fit(["x"]).digest in digests


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"base_url": "127.0.0.1/v1"}, "base_url must be an http or https URL"),
        ({"base_url": "http://user:secret@host/v1"}, "base_url must hold no user or password"),
        ({"batch_size": 0}, "batch_size must be >= 1, got 0"),
        ({"timeout": 0.0}, "timeout must be > 0"),
        ({"retries": -1}, "retries must be >= 0, got -1"),
    ],
)
def test_bad_options_are_named(change, message):
    with pytest.raises(ConfigError, match=message):
        OpenAIEncoder(**options(**change))


def test_an_unset_key_is_named_by_its_variable(server, monkeypatch):
    monkeypatch.delenv("TEST_KEY")
    with pytest.raises(ConfigError, match=r"TEST_KEY"):
        fitted(server).encode(["a"])


def test_a_missing_client_names_its_pip_line(server, monkeypatch):
    monkeypatch.setitem(sys.modules, "openai", None)
    with pytest.raises(MissingExtra, match=r'pip install "sodamem\[server\]"'):
        fitted(server).encode(["a"])
