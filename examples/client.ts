// The gateway with OpenAI's package: a chat as it streams, an image ordered and awaited, the balance.
//   SVC_BASE_URL=http://127.0.0.1:8080 SVC_API_KEY=sk-svc_… node examples/client.ts
import { randomUUID } from 'node:crypto';
import OpenAI from 'openai';

interface ImageTask {
  id: string;
  status: 'queued' | 'in_progress' | 'completed' | 'failed';
  outputUrl: string | null;
  error?: { code: string | null; message: string };
}

interface Balance {
  data: { available: number };
}

const POLL_MS = 1_000;

const apiKey = process.env['SVC_API_KEY'];
if (!apiKey) throw new Error('SVC_API_KEY: set it to your API key; npm start prints one.');
const gateway = new OpenAI({
  apiKey,
  baseURL: `${process.env['SVC_BASE_URL'] ?? 'http://127.0.0.1:8080'}/v1`,
});

await chat('Say hello.');
console.log('image:', await createImage('a lighthouse at dusk'));
console.log('balance:', (await gateway.get<Balance>('/balance')).data.available, 'credits');

async function chat(content: string): Promise<void> {
  const stream = await gateway.chat.completions.create({
    model: 'gpt-6-luna',
    messages: [{ role: 'user', content }],
    stream: true,
  });
  process.stdout.write('chat: ');
  for await (const chunk of stream) process.stdout.write(chunk.choices[0]?.delta.content ?? '');
  process.stdout.write('\n');
}

/** Answers with a link to the image; throws when the task failed. */
async function createImage(prompt: string): Promise<string> {
  const body = { model: 'gpt-image-2', prompt };
  // The client sends a request again when the line breaks; with this key it is one order all the same.
  const headers = { 'Idempotency-Key': randomUUID() };
  let task = await gateway.post<ImageTask>('/images/generations', { body, headers });
  while (task.status === 'queued' || task.status === 'in_progress') {
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    task = await gateway.get<ImageTask>(`/images/tasks/${task.id}`);
  }
  if (task.outputUrl === null) throw new Error(`the image failed: ${task.error?.message ?? task.status}`);
  return task.outputUrl;
}
