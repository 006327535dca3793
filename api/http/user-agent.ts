// Reads the User-Agent header, cut to a length that can be stored.
import type { IncomingHttpHeaders } from 'node:http';
import { cutText } from '../../domain/cut-text.ts';

const USER_AGENT_CHARACTERS_MAX = 300;

export function readUserAgent(headers: IncomingHttpHeaders): string | null {
  const { 'user-agent': agent } = headers;
  return agent === undefined ? null : cutText(agent, USER_AGENT_CHARACTERS_MAX);
}
