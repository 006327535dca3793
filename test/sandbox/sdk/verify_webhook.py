"""Verifies a webhook with the package of Standard Webhooks. Arguments: secret, body, headers as JSON."""

import json
import sys

from standardwebhooks import Webhook, WebhookVerificationError

secret, body, headers = sys.argv[1:4]
event = Webhook(secret).verify(body, json.loads(headers))
try:
    Webhook(secret).verify(body + " ", json.loads(headers))
    forged = "accepted"
except WebhookVerificationError:
    forged = "refused"
print(json.dumps({"type": event["type"], "forged": forged}))
