// A fake upstream: 1.1 KB for a whole answer; a stream of 20 chunks 5 ms apart, then the usage, then [DONE].
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

const CHUNKS = 20;
const CHUNK_EVERY_MS = 5;
const USAGE = { prompt_tokens: 12, completion_tokens: 20, total_tokens: 32 };
const HEAD = { id: 'chatcmpl-bench', created: 1_760_000_000, model: 'gpt-6-luna' };
const whole = JSON.stringify({
  ...HEAD,
  object: 'chat.completion',
  choices: [
    { index: 0, message: { role: 'assistant', content: 'word '.repeat(170) }, finish_reason: 'stop' },
  ],
  usage: USAGE,
});

/** Calls of the gateway, which sends its request's id with each; those of other targets do not count. */
let calls = 0;

const server = createServer((req, res) => {
  if (req.url === '/calls') return void res.end(String(calls));
  let body = '';
  req.on('data', (chunk: Buffer) => (body += chunk.toString()));
  req.on('end', () => {
    if (req.headers['x-client-request-id'] !== undefined) calls += 1;
    if (body.includes('"stream":true')) void stream();
    else res.writeHead(200, { 'content-type': 'application/json' }).end(whole);
  });
  async function stream(): Promise<void> {
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    const say = (fields: object): void => {
      res.write(`data: ${JSON.stringify({ ...HEAD, object: 'chat.completion.chunk', ...fields })}\n\n`);
    };
    for (let chunk = 0; chunk < CHUNKS; chunk += 1) {
      const delta = chunk === 0 ? { role: 'assistant', content: 'word ' } : { content: 'word ' };
      say({ choices: [{ index: 0, delta, finish_reason: null }], usage: null });
      await sleep(CHUNK_EVERY_MS);
    }
    say({ choices: [], usage: USAGE });
    res.end('data: [DONE]\n\n');
  }
});
server.keepAliveTimeout = 600_000;
server.listen(Number(process.env['PORT']), '127.0.0.1', () => console.log('the upstream is ready'));
