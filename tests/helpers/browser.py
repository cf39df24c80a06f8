"""A headless Chromium, driven over the DevTools protocol's pipe, for tests of the report."""

import json
import os
import shutil
import subprocess
from pathlib import Path

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--remote-debugging-pipe",
)


def find_browser():
    """Return the path of Chromium, or None where it isn't installed."""
    return shutil.which("chromium") or shutil.which("chromium-browser")


class Browser:
    """One page in a browser with a new profile in the folder `profile`; a context manager."""

    def __init__(self, profile):
        # Chromium reads commands from its file descriptor 3 and writes answers to 4.
        command_read, self._command_write = os.pipe()
        self._answer_read, answer_write = os.pipe()
        start = f'exec "$0" "$@" 3<&{command_read} 4>&{answer_write}'
        self._process = subprocess.Popen(
            ["bash", "-c", start, find_browser(), *FLAGS, f"--user-data-dir={profile}"],
            pass_fds=(command_read, answer_write),
            stderr=subprocess.DEVNULL,
        )
        os.close(command_read)
        os.close(answer_write)
        self._buffer, self._number, self.events, self._session = b"", 0, [], None

    def __enter__(self):
        target = self.command("Target.createTarget", url="about:blank")["targetId"]
        attached = self.command("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Network", "Runtime", "Log"):
            self.command(f"{domain}.enable")
        return self

    def __exit__(self, *_):
        self._session = None
        self.command("Browser.close")
        self._process.wait()
        os.close(self._command_write)
        os.close(self._answer_read)

    def command(self, method, **parameters):
        """Send one command and return its result; what happens meanwhile goes to `events`."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._command_write, json.dumps(message).encode() + b"\0")
        while (answer := self._read()).get("id") != self._number:
            self.events.append(answer)
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']}")
        return answer["result"]

    def open(self, file, width, height=800):
        """Show a file in a window of `width` by `height` CSS pixels and wait until it is loaded."""
        self.command(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 600,
        )
        self.events.clear()
        self.command("Page.navigate", url=Path(file).as_uri())
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self._read())

    def evaluate(self, expression):
        """Return the value of a JavaScript expression on the page."""
        answer = self.command("Runtime.evaluate", expression=expression, returnByValue=True)
        return answer["result"].get("value")

    def requested(self):
        """Return the addresses that the page asked for, but for those that hold their content."""
        requests = [
            each for each in self.events if each.get("method") == "Network.requestWillBeSent"
        ]
        addresses = [request["params"]["request"]["url"] for request in requests]
        return [address for address in addresses if not address.startswith("data:")]

    def _read(self):
        while b"\0" not in self._buffer:
            chunk = os.read(self._answer_read, 1 << 20)
            if not chunk:
                raise RuntimeError("the browser has ended")
            self._buffer += chunk
        message, self._buffer = self._buffer.split(b"\0", 1)
        return json.loads(message)
