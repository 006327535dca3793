// Counts how often a header was sent: Node keeps one of several, and a proxy before us may have read another.
import type { IncomingMessage } from 'node:http';

/** Not by `headersDistinct`, which copies all headers. */
export function countHeader({ rawHeaders }: Pick<IncomingMessage, 'rawHeaders'>, lowerName: string): number {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2)
    if (rawHeaders[index]?.toLowerCase() === lowerName) count += 1;
  return count;
}
