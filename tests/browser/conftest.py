"""A real browser, driven through the commands of WebDriver (W3C): Debian's chromium, without a window or a network."""

import json
import shutil
import subprocess
import time
from contextlib import suppress
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

FLAGS = ("headless", "no-sandbox", "disable-gpu", "disable-background-networking", "disable-component-update")
FLAGS += ("disable-sync", "no-first-run", "host-resolver-rules=MAP * ~NOTFOUND", "window-size=1280,1400")
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"  # the key under which WebDriver keeps a reference


def pytest_collection_modifyitems(items):
    missing = [name for name in ("chromium", "chromedriver") if shutil.which(name) is None]
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(pytest.mark.browser)
            if missing:
                item.add_marker(
                    pytest.mark.skip(reason=f"needs {missing[0]}: apt-get install chromium chromium-driver")
                )


class Browser:
    """One window. Elements are named by CSS selectors; a click is where a person would click."""

    def __init__(self, driver, home):
        self.driver, self.session, self.downloads = driver, "", home / "downloads"
        self.downloads.mkdir(parents=True)
        options = {
            "binary": shutil.which("chromium"),
            "args": [*(f"--{flag}" for flag in FLAGS), f"--user-data-dir={home / 'profile'}"],
            "prefs": {"download.default_directory": str(self.downloads)},
        }
        wanted = {"goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}
        made = self.ask("", {"capabilities": {"alwaysMatch": wanted}})
        self.session = f"/{made['sessionId']}"

    def ask(self, command, body=None, method="POST"):
        data = None if method != "POST" else json.dumps(body or {}).encode()
        request = Request(f"{self.driver}/session{self.session}{command}", data=data, method=method)
        try:
            with urlopen(request, timeout=60) as reply:
                return json.load(reply)["value"]
        except HTTPError as error:
            with error:
                raise AssertionError(json.load(error)["value"]["message"]) from None

    def open(self, path):
        self.ask("/url", {"url": path.absolute().as_uri()})

    def js(self, script):
        return self.ask("/execute/sync", {"script": f"return {script}", "args": []})

    def find(self, selector):
        return self.ask("/element", {"using": "css selector", "value": selector})

    def click(self, selector):
        self.ask(f"/element/{self.find(selector)[ELEMENT]}/click")

    def type(self, selector, words):
        self.ask(f"/element/{self.find(selector)[ELEMENT]}/value", {"text": words})

    def hover(self, selector):
        move = {"type": "pointerMove", "origin": self.find(selector), "x": 0, "y": 0}
        self.ask("/actions", {"actions": [{"type": "pointer", "id": "mouse", "actions": [move]}]})

    def texts(self, selector):
        return self.js(f"[...document.querySelectorAll({json.dumps(selector)})].map(one => one.textContent)")

    def faults(self):
        """What the page complained of since it was last asked, and what it fetched besides itself."""
        fetched = self.js("performance.getEntriesByType('resource').map(one => one.name)")
        return [entry["message"] for entry in self.ask("/se/log", {"type": "browser"})] + fetched

    def downloaded(self, name):
        path, end = self.downloads / name, time.monotonic() + 10
        while not path.exists():
            assert time.monotonic() < end, f"{name} was not downloaded"
            time.sleep(0.05)
        return path


@pytest.fixture
def browser(tmp_path):
    with subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE, text=True) as process:
        try:
            started = next(line for line in process.stdout if "started successfully on port" in line)
            window = Browser(
                f"http://127.0.0.1:{started.rstrip().rstrip('.').rpartition(' ')[2]}", tmp_path / "browser"
            )
            yield window
            with suppress(OSError):
                window.ask("", method="DELETE")
        finally:
            process.terminate()
