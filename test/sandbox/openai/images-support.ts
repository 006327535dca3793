// What the tests of the sandbox's OpenAI Images share: ordering pictures and reading them.

import type { Sandbox } from '../../../sandbox/server.ts';
import { ask, at, type HttpAnswer, type Json, newPrompt, useSandbox } from '../support.ts';

export const PNG_SIGNATURE = '89504e470d0a1a0a';

export interface OpenaiImages {
  sandbox(): Sandbox;
  /** Where pictures are ordered. */
  url(): string;
  /** Orders a picture that takes no time unless the directives say so. */
  generate(directives: string, fields?: Json): Promise<HttpAnswer>;
}

/** Starts a sandbox before the tests of the surrounding block and closes it after them. */
export function useOpenaiImages(): OpenaiImages {
  const sandbox = useSandbox();

  const url = (): string => `${sandbox().url}/openai/v1/images/generations`;

  const generate = (directives: string, fields: Json = {}): Promise<HttpAnswer> =>
    ask(url(), {
      method: 'POST',
      body: { model: 'gpt-image-2', prompt: newPrompt(`seconds=0 ${directives}`).prompt, ...fields },
    });

  return { sandbox, url, generate };
}

export function picture(answer: HttpAnswer, index = 0): Buffer {
  return Buffer.from(String(at(answer.body, `data.${index}.b64_json`)), 'base64');
}
