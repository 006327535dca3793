#!/bin/sh
# The gateway with curl: a chat, an image ordered and awaited, the balance.
#   SVC_BASE_URL=http://127.0.0.1:8080 SVC_API_KEY=sk-svc_… sh examples/gateway.sh
set -eu
base="${SVC_BASE_URL:-http://127.0.0.1:8080}"
: "${SVC_API_KEY:?set it to your API key; npm start prints one}"

# request METHOD PATH [BODY [HEADER]]: prints the answer's JSON; fails on a status of 400 and above.
request() {
  curl --silent --show-error --fail-with-body --max-time 60 --request "$1" "$base$2" \
    --header "Authorization: Bearer $SVC_API_KEY" --header 'Content-Type: application/json' \
    ${3:+--data "$3"} ${4:+--header "$4"}
}

# field NAME: the text of a field in the JSON on standard input. For more than an example, use jq.
field() {
  sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p"
}

answer=$(request POST /v1/chat/completions \
  '{"model":"gpt-6-luna","messages":[{"role":"user","content":"Say hello."}]}')
echo "chat: $(echo "$answer" | field content)"

# The Idempotency-Key makes the order happen once, however often this request is sent again with it.
task=$(request POST /v1/images/generations \
  '{"model":"gpt-image-2","prompt":"a lighthouse at dusk"}' "Idempotency-Key: order-$(date +%s)-$$")
id=$(echo "$task" | field id)

status=queued
while [ "$status" = queued ] || [ "$status" = in_progress ]; do
  sleep 1
  task=$(request GET "/v1/images/tasks/$id")
  status=$(echo "$task" | field status)
done
[ "$status" = completed ] || { echo "the image failed: $task" >&2; exit 1; }
echo "image: $(echo "$task" | field outputUrl)"

echo "balance: $(request GET /v1/balance)"
