// Answers with the likeliest alternatives of each token, as `top_logprobs` asks for them: 1.3 KB a token.
const ALTERNATIVES = 20;

/** The body of a whole chat answer of so many tokens. */
export function longAnswer(tokens: number, fields: object = {}) {
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1,
    model: 'theirs',
    choices: [
      {
        index: 0,
        finish_reason: 'stop',
        message: { role: 'assistant', content: 'wörd '.repeat(tokens) },
        logprobs: { content: probabilitiesOf(tokens) },
      },
    ],
    ...fields,
  };
}

/** What is told of so many tokens, in chat and in responses. */
export function probabilitiesOf(tokens: number): object[] {
  return Array.from({ length: tokens }, (_, index) => probabilityOf(` ${index}`));
}

function probabilityOf(token: string): object {
  const alternatives = Array.from({ length: ALTERNATIVES }, (_, n) => {
    return { token: ` ${n}`, logprob: -1.234_567_89 - n, bytes: [32, 48 + n] };
  });
  return { token, logprob: -0.123_456_789, bytes: [32, 49], top_logprobs: alternatives };
}
