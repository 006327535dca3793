"""The gateway with Python's own library: a chat, an image ordered and awaited, the balance.

SVC_BASE_URL=http://127.0.0.1:8080 SVC_API_KEY=sk-svc_... python3 examples/client.py
"""

import json
import os
import sys
import time
import urllib.request
import uuid

BASE_URL = os.environ.get("SVC_BASE_URL", "http://127.0.0.1:8080")
API_KEY = os.environ.get("SVC_API_KEY") or sys.exit("SVC_API_KEY: set it to your API key; npm start prints one.")
POLL_SECONDS = 1
TIMEOUT_SECONDS = 60


def request(method, path, body=None, headers=None):
    """Returns the JSON of the answer; raises urllib.error.HTTPError for a status of 400 and above."""
    sent = urllib.request.Request(
        BASE_URL + path,
        method=method,
        data=None if body is None else json.dumps(body).encode(),
        headers={
            "Authorization": f"Bearer {API_KEY}",
            "Content-Type": "application/json",
            **(headers or {}),
        },
    )
    with urllib.request.urlopen(sent, timeout=TIMEOUT_SECONDS) as answer:
        return json.load(answer)


def chat(content):
    messages = [{"role": "user", "content": content}]
    answer = request("POST", "/v1/chat/completions", {"model": "gpt-6-luna", "messages": messages})
    return answer["choices"][0]["message"]["content"]


def create_image(prompt):
    """Returns a link to the image; raises RuntimeError when the task failed."""
    order = {"model": "gpt-image-2", "prompt": prompt}
    # The key makes the order happen once, however often this request is sent again with it.
    task = request("POST", "/v1/images/generations", order, {"Idempotency-Key": str(uuid.uuid4())})
    while task["status"] in ("queued", "in_progress"):
        time.sleep(POLL_SECONDS)
        task = request("GET", f"/v1/images/tasks/{task['id']}")
    if task["status"] != "completed":
        raise RuntimeError(f"the image failed: {task['error']['message']}")
    return task["outputUrl"]


if __name__ == "__main__":
    print("chat:", chat("Say hello."))
    print("image:", create_image("a lighthouse at dusk"))
    print("balance:", request("GET", "/v1/balance")["data"]["available"], "credits")
