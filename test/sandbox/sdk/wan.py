"""Drives the sandbox with Alibaba's own client. Arguments: base URL, prompt."""

import json
import sys

import dashscope
from dashscope import VideoSynthesis

base_url, prompt = sys.argv[1:3]
dashscope.base_http_api_url = base_url
dashscope.api_key = "sk-key"
model = "wan3.0-video"


def create(directives, **options):
    text = f"{prompt} [[sandbox {directives}]]"
    return VideoSynthesis.async_call(model=model, prompt=text, **options)


def refusal(answer):
    return [answer.status_code, answer.code]


media = [{"type": "first_frame", "url": "https://example.com/fox.png"}]
options = {"duration": 4, "resolution": "720P", "ratio": "16:9", "watermark": False, "seed": 7}
created = create("seconds=0.3", media=media, **options)
done = VideoSynthesis.wait(created)
failed = VideoSynthesis.wait(create("seconds=0 outcome=moderated"))
pending = create("seconds=600")
cancelled = VideoSynthesis.cancel(pending)
late = VideoSynthesis.cancel(created)
listed = VideoSynthesis.list(model_name=model, status="SUCCEEDED")

print(
    json.dumps(
        {
            "created": [created.status_code, created.output.task_status],
            "done": [done.output.task_status, done.usage["output_video_duration"]],
            "url": done.output.video_url,
            "failed": [failed.status_code, failed.output.task_status, failed.output["code"]],
            "cancelled": [cancelled.status_code, VideoSynthesis.fetch(pending).output.task_status],
            "late": refusal(late),
            "listed": listed.status_code,
            "bad_duration": refusal(create("", duration=99)),
            "limited": refusal(create("submit=429")),
        }
    )
)
