// In development: tells open pages of the console that a new build is there, so that they load it.
import { watch } from 'node:fs';
import type { Request, Response } from 'express';
import type { Services } from '../services.ts';

/** Streams server-sent events until the page or the process goes: `reload` after every build. */
export function sendBuildEvents({ consoleDir, stopping }: Services, req: Request, res: Response): void {
  res.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
  res.write(': watching\n\n');
  const watcher = watch(consoleDir, (_event, name) => {
    if (name === 'manifest.json') res.write('event: reload\ndata: {}\n\n');
  });
  const end = (): void => {
    watcher.close();
    res.end();
  };
  req.once('close', end);
  stopping.addEventListener('abort', end, { once: true });
}
