// The raw request of a task, encrypted: read by the task's attempts, its prompt also by its owner.
import { setImmediate } from 'node:timers/promises';
import { TaskRequestEntity } from '../entities/tasks.ts';
import type { Sealed, Secrets } from '../secrets.ts';
import { prepare } from '../prepared.ts';
import type { Em } from '../database.ts';

/** In UTF-16 code units. */
const LONG_BODY_LENGTH = 1024 * 1024;

/** What an adapter needs beside the order and the prompt. */
export interface RequestBody {
  inputImages: string[];
  inputVideos: string[];
  /** What must not be seen; null where nothing was said of it. */
  negativePrompt: string | null;
  /** Whether `prompt` holds the messages of a conversation, as JSON. */
  isConversation: boolean;
}

export interface DecryptedRequest extends RequestBody {
  prompt: string;
}

/** How a data URI begins whose text JSON writes as it is. */
const DATA_URI = /^data:[\w/+.-]{1,100};base64,/;

/** Encrypts a request. Writing a long one as JSON and encrypting it each have a turn of the event loop. */
export async function sealRequest(
  secrets: Secrets,
  taskId: string,
  request: DecryptedRequest,
): Promise<{ secretKeyId: string; prompt: Uint8Array; body: Uint8Array }> {
  const { prompt, ...body } = request;
  const sealedPrompt = secrets.seal('request', `${taskId}:prompt`, prompt);
  const written = writeBody(body);
  if (written.length > LONG_BODY_LENGTH) await setImmediate();
  const sealedBody = secrets.seal('request', `${taskId}:body`, written);
  return { secretKeyId: sealedPrompt.secretKeyId, prompt: sealedPrompt.bytes, body: sealedBody.bytes };
}

/** The whole request, or null when it was removed some days after the task's end. */
export async function decryptRequest(
  em: Em,
  secrets: Secrets,
  taskId: string,
): Promise<DecryptedRequest | null> {
  const [row] = await selectRequest(em, [taskId]);
  if (!row?.body) return null;
  const body: RequestBody = JSON.parse(decryptPart(secrets, taskId, 'body', row.secretKeyId, row.body));
  return { ...body, prompt: decryptPart(secrets, taskId, 'prompt', row.secretKeyId, row.prompt) };
}

const selectRequest = prepare<{ secretKeyId: string; prompt: Uint8Array; body: Uint8Array | null }>(
  'find-request',
  'select secret_key_id as "secretKeyId", prompt, body from task_request where task_id = $1',
);

/**
 * The prompts of these tasks by task id, for their owner. A prompt whose key has left the ring is missing.
 */
export async function decryptPrompts(
  em: Em,
  secrets: Secrets,
  taskIds: string[],
): Promise<Map<string, string>> {
  const rows = await em.find(
    TaskRequestEntity,
    { taskId: { $in: taskIds } },
    { fields: ['secretKeyId', 'prompt'] },
  );
  return new Map(
    rows.flatMap((row) => {
      const prompt = decryptPrompt(secrets, row);
      return prompt === undefined ? [] : [[row.taskId, prompt]];
    }),
  );
}

/** The prompt in a row of the table; undefined when its key has left the ring. */
export function decryptPrompt(
  secrets: Secrets,
  { taskId, secretKeyId, prompt }: { taskId: string; secretKeyId: string; prompt: Uint8Array },
): string | undefined {
  if (!secrets.knows(secretKeyId)) return undefined;
  return decryptPart(secrets, taskId, 'prompt', secretKeyId, prompt);
}

/**
 * Writes JSON without reading images character by character, as `JSON.stringify` does: 24 MB of them would
 * hold up all other requests for a tenth of a second. Decoding base64 takes a fiftieth of that.
 */
function writeBody({ inputImages, ...rest }: RequestBody): string {
  const images = inputImages.map((image) => (isPlain(image) ? `"${image}"` : JSON.stringify(image)));
  return `{"inputImages":[${images.join()}],${JSON.stringify(rest).slice(1)}`;
}

/** Whether a text is a data URI of nothing but base64, of which JSON escapes no character. */
function isPlain(text: string): boolean {
  const [head] = DATA_URI.exec(text) ?? [];
  if (head === undefined) return false;
  const encoded = text.slice(head.length);
  const padding = /={0,2}$/.exec(encoded.slice(-2))?.[0].length ?? 0;
  // What is not base64 is skipped, so that there are fewer bytes.
  const bytes = (encoded.length * 3) / 4 - padding;
  return encoded.length % 4 === 0 && Buffer.from(encoded, 'base64').length === bytes;
}

function decryptPart(
  secrets: Secrets,
  taskId: string,
  part: string,
  secretKeyId: string,
  bytes: Sealed['bytes'],
): string {
  return secrets.decrypt('request', `${taskId}:${part}`, { secretKeyId, bytes });
}
