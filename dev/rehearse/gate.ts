// Runs in a container before the bucket: passes requests on late, or refuses what is written, as a full disk.
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';

const PORT = 7070;
/** What an S3 server answers when its disk is full (RFC 4918 §11.5). */
const FULL_STATUS = 507;
const FULL = `<?xml version="1.0"?><Error><Code>InsufficientStorage</Code><Message>No space left on device</Message></Error>`;
const [mode = '', host = '', delayMs = '0'] = process.argv.slice(2);

createServer((incoming, outgoing) => {
  process.stdout.write(`${incoming.method} ${incoming.url}\n`);
  if (mode === 'full' && incoming.method !== 'GET' && incoming.method !== 'HEAD') refuse(incoming, outgoing);
  else setTimeout(() => pass(incoming, outgoing), Number(delayMs));
}).listen(PORT);

function pass(incoming: IncomingMessage, outgoing: ServerResponse): void {
  const { method, url: path, headers } = incoming;
  const onward = request({ host, port: PORT, method, path, headers }, (answer) => {
    outgoing.writeHead(answer.statusCode ?? FULL_STATUS, answer.headers);
    answer.pipe(outgoing);
  });
  onward.on('error', () => outgoing.destroy());
  incoming.pipe(onward);
}

function refuse(incoming: IncomingMessage, outgoing: ServerResponse): void {
  incoming.resume();
  incoming.once('end', () => {
    outgoing.writeHead(FULL_STATUS, { 'content-type': 'application/xml' });
    outgoing.end(FULL);
  });
}
