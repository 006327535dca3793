"""Tells Schemathesis who calls (a key or a session, by the route's scheme) and what no schema can say."""

import json
import os
import re
import urllib.request

import schemathesis

# The test answers GET with {"apiKey", "session"}: a session that lives and is verified, each time a new one.
CALLERS_URL = os.environ["CONTRACT_CALLERS_URL"]

# Statuses that depend on the state of things, as in the check of Schemathesis that this one replaces.
OF_STATE = {401, 403, 404, 409, 429}

# Refusals of well-formed requests: code, pattern of the message, and why no schema can say it. Messages about
# the form of a field begin with its name and a colon, those about the model do not.
OF_MEANING = [
    ("idempotency_key_reused", "", "is about the request before"),
    ("conflicting_params", "", "two fields that contradict one another"),
    ("model_not_supported", "", "is about the model, which is found by its name"),
    ("prompt_too_long", "", "is about the model"),
    ("url_not_allowed", "", "is about the host and the file behind the URL"),
    ("invalid_image", "", "is about the bytes of the image"),
    ("unsupported_media_type", "^The file must be a video", "is about the bytes of the file"),
    ("invalid_multipart", "", "names of parts are generated with characters that no form may hold"),
    ("too_many_parts", "", "forms have no schema for how many parts they may hold"),
    ("invalid_request", "NUL character or half a character", "holds for every text, as the introduction says"),
    ("invalid_value", "query parameter holds a NUL", "the same for queries"),
    ("invalid_request", "32 levels", "holds for every body, as the introduction says"),
    ("invalid_value", "first that anybody would try", "is about a list of frequent passwords"),
    ("invalid_value", "^email: must be an e-mail address", "the format knows more addresses than are in use"),
    ("invalid_value", "must be in the future", "is about the clock"),
    ("invalid_value", "^A period by |^from must lie before|^timezone", "is about other fields, the clock, or the time zones there are"),
    ("missing_field", "^balanceBelow is required", "is about another field"),
    ("invalid_value", "there is no such model", "is about the models there are"),
    ("invalid_value", "at most 6 decimals", "multiples of 0.000001 are not exact in binary numbers"),
    ("invalid_value", r"https URL", "schemes are read in upper and lower case"),
    ("invalid_value", "is not offered|must hold a url", "parts of messages hold any fields, at any depth"),
    ("invalid_value", r"^[\w.\[\]]+ (must|may) ", "is about the model"),
    ("invalid_value", r"^[\w.\[\]]+: [\w.-]+ (knows|takes) ", "is about the model"),
    ("invalid_value", r"(?s)^metadata\..*: [\w.-]+ takes ", "is about the model; names of options are generated with any characters"),
    ("invalid_value", "^This model does not offer", "is about the model"),
]


class Callers:
    """The two callers of the API. A session that has ended, or was renewed, is replaced by a new one."""

    def __init__(self):
        self.current = None

    def get(self, case, ctx):
        if self.current is None:
            with urllib.request.urlopen(CALLERS_URL, timeout=10) as answer:
                self.current = json.load(answer)
        return self.current

    def set(self, case, data, ctx):
        schemes = {name for one in case.operation.definition.raw.get("security", []) for name in one}
        if "apiKey" in schemes:
            case.headers["Authorization"] = f"Bearer {data['apiKey']}"
        if "session" in schemes:
            case.cookies["svc_session"] = data["session"]


CALLERS = Callers()


@schemathesis.auth(refresh_interval=None)
class Auth:
    def get(self, case, ctx):
        return CALLERS.get(case, ctx)

    def set(self, case, data, ctx):
        CALLERS.set(case, data, ctx)


@schemathesis.hook
def after_call(context, case, response):
    if response.status_code == 401 or "set-cookie" in response.headers:
        CALLERS.current = None


@schemathesis.check
def positive_data_is_understood(ctx, response, case):
    """A request that the document describes is not refused for its form."""
    if case.meta is None or not case.meta.generation.mode.is_positive:
        return
    status = response.status_code
    if status < 400 or status >= 500 or status in OF_STATE:
        return
    error = response.json()["error"]
    for code, pattern, _ in OF_MEANING:
        if error["code"] == code and re.search(pattern, error["message"]):
            return
    raise AssertionError(f"A request as described was refused: {status} {error['code']}: {error['message']}")
