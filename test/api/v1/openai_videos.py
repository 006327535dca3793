"""Makes a video and edits pictures with OpenAI's own client. Arguments: base URL, key."""

import base64
import json
import sys

import openai

PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
base_url, key = sys.argv[1:3]
client = openai.OpenAI(base_url=base_url, api_key=key, max_retries=2)
picture = ("first.png", PIXEL, "image/png")
video = client.videos.create_and_poll(
    model="grok-imagine-video",
    prompt="waves [[sandbox seconds=1]]",
    seconds="2",
    size="854x480",
    input_reference=picture,
    poll_interval_ms=200,
)
content = client.videos.download_content(video.id).read()
listed = video.id in [each.id for each in client.videos.list(limit=5)]
deleted = client.videos.delete(video.id).deleted
try:
    client.videos.retrieve(video.id)
    gone = None
except openai.NotFoundError as error:
    gone = error.code
edits = client.with_options(default_headers={"Prefer": "wait=60"})
edited = edits.images.edit(
    model="gpt-image-2", image=[picture, picture], prompt="at night [[sandbox seconds=0]]", response_format="b64_json"
)
task = client.get(f"/images/tasks/{edited.id}", cast_to=object)
print(
    json.dumps(
        {
            "status": video.status,
            "seconds": video.seconds,
            "begins": content[4:8].decode(),
            "listed": listed,
            "deleted": deleted,
            "gone": gone,
            "edited": len([each for each in edited.data if len(base64.b64decode(each.b64_json)) > 100]),
            "inputs": 2 if task["status"] == "completed" else 0,
        }
    )
)
