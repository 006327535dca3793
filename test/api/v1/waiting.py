"""Orders an image with OpenAI's own client. Arguments: base URL, key."""

import json
import sys

import openai

base_url, key = sys.argv[1:3]
client = openai.OpenAI(base_url=base_url, api_key=key, max_retries=0, default_headers={"Prefer": "wait=60"})
made = client.images.generate(model="gpt-image-2", prompt="a lighthouse [[sandbox seconds=0]]")
try:
    client.images.generate(model="gpt-image-2", prompt="a lighthouse [[sandbox outcome=moderated]]")
    refused = None
except openai.BadRequestError as error:
    refused = error.code
print(json.dumps({"created": made.created, "url": made.data[0].url, "refused": refused}))
