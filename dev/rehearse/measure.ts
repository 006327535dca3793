// Measures the gateway's image and the memory of the running containers.
import { COMPOSE_FILE, readServices } from './files.ts';
import { readFileSync } from 'node:fs';
import { run } from './engine.ts';
import type { Stage } from './stage.ts';

export interface ImageSize {
  /** Bytes that the gateway adds to the image of Node. */
  ownBytes: number;
  wholeBytes: number;
}

export interface MemoryUse {
  container: string;
  used: string;
  limit: string;
}

/** The image's bytes, and those without its base. */
export async function measureImage(): Promise<ImageSize> {
  const whole = await sizeOf(readServices(readFileSync(COMPOSE_FILE, 'utf8'))['api']?.image ?? '');
  const [, base = ''] = /^FROM (\S+)$/m.exec(readFileSync('Dockerfile', 'utf8')) ?? [];
  return { ownBytes: whole - (await sizeOf(base)), wholeBytes: whole };
}

/** What each running container uses of its memory at this moment. */
export async function measureMemory(stage: Stage): Promise<MemoryUse[]> {
  const format = '{{.Name}}|{{.MemUsage}}';
  const out = await run('docker', ['stats', '--no-stream', '--format', format, ...(await stage.running())]);
  return out
    .trim()
    .split('\n')
    .map((line) => {
      const [container = '', usage = ''] = line.split('|');
      const [used = '', limit = ''] = usage.split(' / ');
      return { container, used, limit };
    })
    .toSorted((a, b) => a.container.localeCompare(b.container));
}

async function sizeOf(image: string): Promise<number> {
  return Number(await run('docker', ['image', 'inspect', '--format', '{{.Size}}', image]));
}
