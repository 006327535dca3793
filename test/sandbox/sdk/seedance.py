"""Drives the sandbox with Volcengine's own client. Arguments: base URL, prompt."""

import json
import sys
import time

from volcenginesdkarkruntime import Ark
from volcenginesdkarkruntime._exceptions import ArkAPIError, ArkAPIStatusError

base_url, prompt = sys.argv[1:3]
client = Ark(base_url=base_url, api_key="ark-key", max_retries=0)
tasks = client.content_generation.tasks
model = "doubao-seedance-2-0-260128"


def create(directives, **options):
    text = f"{prompt} [[sandbox {directives}]]"
    frame = {"type": "image_url", "image_url": {"url": "https://example.com/fox.png"}, "role": "first_frame"}
    content = [{"type": "text", "text": text}, frame]
    return tasks.create(model=model, content=content, **options).id


def wait(task_id):
    for _ in range(200):
        task = tasks.get(task_id=task_id)
        if task.status not in ("queued", "running"):
            return task
        time.sleep(0.05)
    raise SystemExit("it never ended")


def refusal(call):
    try:
        call()
    except ArkAPIStatusError as error:
        return [type(error).__name__, error.status_code, error.code]
    except ArkAPIError as error:
        return [type(error).__name__, None, None]
    return None


options = {"duration": 5, "resolution": "720p", "ratio": "16:9", "safety_identifier": "mine", "generate_audio": True}
done = wait(create("seconds=0.3", **options))
failed = wait(create("seconds=0 outcome=moderated"))
queued = create("seconds=600")
tasks.delete(task_id=queued)
listed = tasks.list(page_num=1, page_size=10, status="succeeded", model=model)
bad_key = Ark(base_url=base_url, api_key="invalid", max_retries=0).content_generation.tasks

print(
    json.dumps(
        {
            "done": [done.status, done.safety_identifier, done.duration, done.usage.completion_tokens],
            "url": done.content.video_url,
            "failed": [failed.status, failed.error.code],
            "cancelled": tasks.get(task_id=queued).status,
            "listed": [item.id == done.id for item in listed.items],
            "total": listed.total,
            "bad_duration": refusal(lambda: create("", duration=99)),
            "bad_key": refusal(lambda: bad_key.get(task_id=done.id)),
            "unknown": refusal(lambda: tasks.get(task_id="cgt-none")),
            "limited": refusal(lambda: create("submit=429")),
        }
    )
)
