// Runs the sandbox as a process on the port of the first argument or SANDBOX_PORT, otherwise on a free one.

import { startSandbox } from './server.ts';

const port = Number(process.argv[2] ?? process.env['SANDBOX_PORT'] ?? 0);
if (!Number.isInteger(port) || port < 0 || port > 65_535) {
  console.error('The port must be a whole number from 0 to 65535.');
  process.exit(1);
}

const sandbox = await startSandbox({ port, host: '127.0.0.1' });
process.stdout.write(`${JSON.stringify({ url: sandbox.url, port: sandbox.port, pid: process.pid })}\n`);

for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => void sandbox.close());
