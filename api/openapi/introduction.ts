// The introduction of the OpenAPI document, in Markdown: what a newcomer reads above the list of routes.

export const INTRODUCTION = `One HTTP API in front of text, image and video models of several vendors, billed in credits.

You send a prompt and get a **task**. The gateway hands it to the vendor, copies the result and gives you a link. What a task may cost is set aside before it begins; what was delivered is charged when it is done. A task that fails or is cancelled costs nothing.

\`\`\`sh
curl $BASE/v1/images/generations -H "Authorization: Bearer $KEY" -H "Content-Type: application/json" \\
  -d '{"model":"gpt-image-2","prompt":"a lighthouse at dusk"}'          # 202 with the task's id
curl $BASE/v1/images/tasks/$ID -H "Authorization: Bearer $KEY"          # until status is completed
\`\`\`

## Who you are

- **Bearer key** on \`/v1\` and \`GET /api/usage/token\`: \`Authorization: Bearer sk-svc_…\`. A key belongs to a user and may have limits of its own: a quota, a daily budget, a list of models, an end.
- **Session cookie** on the rest of \`/api\`: \`POST /api/auth/login\` gives it. Some routes also need a permission, and some a fresh proof of identity (\`POST /api/verify\`, good for ten minutes). Requests that a browser sends from another site are refused.

Every key of a user reads the same tasks. Somebody else's task and one that does not exist answer the same 404.

## Credits

1 US dollar is 200 credits. Amounts are JSON numbers with at most 6 decimals. \`balance\` is what an account has, \`reserved\` what is set aside for running work, \`available\` the difference. A charge is never higher than what was set aside.

## Requests

Bodies are JSON objects in UTF-8, sent as \`application/json\`, at most 1 MiB, or 32 MiB for orders of images and videos and their estimates. They may be compressed with gzip, deflate or br. An upload is a form, and two routes of OpenAI’s take a form or JSON; forms are sent uncompressed. NUL characters, half characters, infinite numbers and more than 32 levels are refused. Fields that are not described are ignored on \`/v1\` and refused on \`/api\`. Query parameters may stand once each; unknown ones are ignored. HEAD is answered as GET is, without the body.

Lists take \`limit\` and \`cursor\` and answer \`{ data, hasMore, nextCursor }\`, newest first. A page may have fewer entries than \`limit\` although \`hasMore\` is true: tasks end it after 2 MiB of their texts.

No answer may be kept by a cache (\`Cache-Control: no-store\`), but the files of results, as long as their link lives, and this description.

## Errors

Every error has the same shape: \`{ "error": { "message", "type", "param", "code", "request_id" } }\`. Decide by \`code\` (or by status), show \`message\`, quote \`request_id\`, which is also the header \`x-request-id\` of every answer. An unknown route is 404 \`route_not_found\`, a wrong method 405 \`method_not_allowed\` with \`Allow\`. Before a route is reached, HTTP itself may be the reason: 400, 408, 413, 414, 417, 431.

Retry 429 and 503 after \`Retry-After\`, 5xx with growing pauses, and 409 only where \`x-should-retry\` says so.

## Repeating requests safely

Whatever costs or adds credits takes an \`Idempotency-Key\`. If an answer is lost, send the same request with the same key again: for 24 hours it is answered as the first time (\`Idempotent-Replayed: true\`), without a second effect. The same key with another body is 422, a repeat while the first request still runs 409.

## Limits

Every answer to a limited request carries \`X-RateLimit-Limit\`, \`-Remaining\` and \`-Reset\` (Unix seconds), and the IETF pair \`RateLimit-Policy\` and \`RateLimit\`. A 429 adds \`Retry-After\` and \`X-RateLimit-Backend\`. Chat is counted per key, creations, uploads and webhook events sent on request per user, reads per key or user, and whatever could be guessed (logins, verifications, codes) per address.
`;
