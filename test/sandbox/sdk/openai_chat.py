"""Drives chat with OpenAI's own client. Arguments: base URL, key, a word that no other run has."""

import json
import sys

import openai
from pydantic import BaseModel

base_url, key, word = sys.argv[1:4]
client = openai.OpenAI(base_url=base_url, api_key=key, max_retries=0)
model = "gpt-6-luna"


class City(BaseModel):
    city: str
    days: int


def say(directives=""):
    return [{"role": "user", "content": f"Say something. {word} [[sandbox {directives}]]"}]


def error(directives="", by=client, **fields):
    try:
        by.chat.completions.create(**{"model": model, "messages": say(directives), **fields})
    except openai.APIStatusError as failure:
        return [type(failure).__name__, failure.status_code, failure.code]


def error_in_stream():
    stream = client.chat.completions.create(model=model, messages=say("error_after=3 tokens=9"), stream=True)
    try:
        for _ in stream:
            pass
    except openai.APIError as failure:
        return [type(failure).__name__, getattr(failure, "status_code", None), failure.code]


whole = client.chat.completions.create(model=model, messages=say("tokens=3"))
text, usage = "", None
for chunk in client.chat.completions.create(model=model, messages=say("tokens=4"), stream=True):
    text += (chunk.choices[0].delta.content or "") if chunk.choices else ""
    usage = chunk.usage or usage
parameters = {"type": "object", "properties": {"city": {"type": "string"}}}
tool = {"type": "function", "function": {"name": "weather", "parameters": parameters}}
called = client.chat.completions.create(model=model, messages=say(), tools=[tool], tool_choice="required")
function = called.choices[0].message.tool_calls[0].function
parsed = client.chat.completions.parse(model=model, messages=say(), response_format=City)
retrying = client.with_options(max_retries=1)
wrong_key = client.with_options(api_key="sk-svc_wrong")

print(
    json.dumps(
        {
            "whole": [
                whole.choices[0].message.content,
                whole.usage.completion_tokens,
                whole.usage.credits_charged > 0,
            ],
            "streamed": [text, usage.completion_tokens],
            "tool": [function.name, list(json.loads(function.arguments))],
            "parsed": isinstance(parsed.choices[0].message.parsed, City),
            "models": model in [found.id for found in client.models.list()],
            "errors": {
                "bad_request": error(max_tokens=0),
                "authentication": error(by=wrong_key),
                "not_found": error(model="none"),
                "upstream": error("submit=500"),
                "silent": error("submit=hang"),
                "in_stream": error_in_stream(),
            },
            "retried": len(
                retrying.chat.completions.create(model=model, messages=say("submit=429*1")).choices
            ),
        }
    )
)
