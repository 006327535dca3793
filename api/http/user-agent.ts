// Reads the User-Agent header, cut to a length that can be stored.
import type { IncomingHttpHeaders } from 'node:http';

const USER_AGENT_CHARACTERS_MAX = 300;

export function readUserAgent(headers: IncomingHttpHeaders): string | null {
  return headers['user-agent']?.slice(0, USER_AGENT_CHARACTERS_MAX) ?? null;
}
