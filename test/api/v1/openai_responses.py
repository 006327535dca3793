"""Drives Responses with OpenAI's own client. Arguments: base URL, key, model."""

import json
import sys

import openai
from pydantic import BaseModel

base_url, key, model = sys.argv[1:4]
client = openai.OpenAI(base_url=base_url, api_key=key, max_retries=0)
parameters = {"type": "object", "properties": {"city": {"type": "string"}}}
tools = [{"type": "function", "name": "weather", "parameters": parameters}]


class City(BaseModel):
    city: str
    days: int


def say(directives=""):
    return f"Say something. [[sandbox {directives}]]"


def refusal(**fields):
    try:
        client.responses.create(model=model, **fields)
    except openai.APIStatusError as failure:
        return failure


def error_in_stream():
    try:
        for _ in client.responses.create(model=model, input=say("error_after=3 tokens=9"), stream=True):
            pass
    except openai.APIError as failure:
        return failure.code


whole = client.responses.create(model=model, input=say("tokens=3"))
streamed = ""
for event in client.responses.create(model=model, input=say("tokens=4"), stream=True):
    streamed += event.delta if event.type == "response.output_text.delta" else ""
with client.responses.stream(model=model, input=say("tokens=4")) as stream:
    final = stream.get_final_response()
conversation = [{"role": "user", "content": say("tokens=2")}]
first = client.responses.create(model=model, input=conversation, tools=tools, tool_choice="required")
call = first.output[0]
conversation += first.output
conversation.append({"type": "function_call_output", "call_id": call.call_id, "output": "sun"})
second = client.responses.create(model=model, input=conversation, tools=tools)
parsed = client.responses.parse(model=model, input=say(), text_format=City)
refused = refusal(input=say("outcome=fail reason=moderation"))
stored = refusal(input=say(), store=True)

print(
    json.dumps(
        {
            "whole": [whole.output_text, whole.usage.output_tokens, whole.usage.credits_charged > 0],
            "streamed": streamed,
            "final": final.output_text,
            "loop": [call.name, second.output_text],
            "parsed": isinstance(parsed.output_parsed, City),
            "refused": [type(refused).__name__, refused.code],
            "stored": [type(stored).__name__, stored.param],
            "in_stream": error_in_stream(),
        }
    )
)
