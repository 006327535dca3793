// Sends forms as `fetch` writes them, with parts of any type.
import type { Actor, Answer } from './http.ts';

/** Sends the parts as one multipart form, in their order. */
export async function sendForm(
  actor: Actor,
  path: string,
  parts: readonly (readonly [name: string, value: string | Blob])[],
): Promise<Answer> {
  const form = new FormData();
  for (const [name, value] of parts) form.append(name, value);
  const encoded = new Request('http://localhost', { method: 'POST', body: form });
  const headers = { 'content-type': encoded.headers.get('content-type') ?? '' };
  return actor.send('POST', path, { body: Buffer.from(await encoded.arrayBuffer()), headers });
}
