// Log probabilities of a reply's tokens, as `logprobs` and `top_logprobs` ask for them.

import type { Reply } from './chat-reply.ts';

/** Those of the tokens between two indexes; null where none are asked for, and for calls of tools. */
export function logprobsOf(reply: Reply, choice: number, from = 0, to = reply.tokens): object | null {
  const { logprobs: alternatives, form } = reply.order;
  if (alternatives === null || form.kind === 'call') return null;
  const content = Array.from({ length: to - from }, (_, at) => {
    const token = reply.piece(choice, from + at);
    const likely = 0.95 - ((choice + from + at) % 8) * 0.05;
    return { ...tell(token, likely), top_logprobs: likeliest(token, likely, alternatives) };
  });
  return { content, refusal: null };
}

/** The token itself, then others of which each takes half of what is left. */
function likeliest(token: string, likely: number, alternatives: number): object[] {
  return Array.from({ length: alternatives }, (_, index) =>
    index === 0 ? tell(token, likely) : tell(`${token}${'s'.repeat(index)}`, (1 - likely) / 2 ** index),
  );
}

function tell(token: string, probability: number): object {
  return { token, logprob: Number(Math.log(probability).toFixed(9)), bytes: [...Buffer.from(token)] };
}
