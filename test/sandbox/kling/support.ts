// What the tests of the sandbox's Kling share: submitting and polling in both of its APIs.

import { expect } from 'chai';
import type { Sandbox } from '../../../sandbox/server.ts';
import { ask, at, type HttpAnswer, type Json, newPrompt, useSandbox } from '../support.ts';

export const PICTURE = 'https://example.com/fox.png';

export interface Kling {
  sandbox(): Sandbox;
  base(): string;
  post(path: string, body: Json, key?: string): Promise<HttpAnswer>;
  /** Submits to the flat API. */
  legacy(directives: string, fields?: Json, kind?: string): Promise<HttpAnswer>;
  pollLegacy(id: string, kind?: string, key?: string): Promise<HttpAnswer>;
  /** Submits to the API since 3.0. */
  three(directives: string, fields?: Json, path?: string): Promise<HttpAnswer>;
  /** Lists tasks in the API since 3.0. */
  list(query: string, key?: string): Promise<HttpAnswer>;
  /** The task, as the first poll shows it, of a job in the flat API that takes no time. */
  finishLegacy(directives: string, fields?: Json): Promise<unknown>;
  /** The task, as the first poll shows it, of a job in the API since 3.0 that takes no time. */
  finishThree(directives: string, settings?: Json): Promise<unknown>;
}

/** Starts a sandbox before the tests of the surrounding block and closes it after them. */
export function useKling(): Kling {
  const sandbox = useSandbox();

  const base = (): string => `${sandbox().url}/kling`;

  const post = (path: string, body: Json, key = 'sk-test'): Promise<HttpAnswer> =>
    ask(`${base()}${path}`, { method: 'POST', key, body });

  const legacy = (directives: string, fields: Json = {}, kind = 'text2video'): Promise<HttpAnswer> =>
    post(`/v1/videos/${kind}`, { model_name: 'kling-v2-6', prompt: newPrompt(directives).prompt, ...fields });

  const pollLegacy = (id: string, kind = 'text2video', key = 'sk-test'): Promise<HttpAnswer> =>
    ask(`${base()}/v1/videos/${kind}/${id}`, { key });

  const three = (
    directives: string,
    fields: Json = {},
    path = '/text-to-video/kling-3.0',
  ): Promise<HttpAnswer> => post(path, { prompt: newPrompt(directives).prompt, ...fields });

  const list = (query: string, key = 'sk-test'): Promise<HttpAnswer> =>
    ask(`${base()}/tasks?${query}`, { key });

  async function finishLegacy(directives: string, fields: Json = {}): Promise<unknown> {
    const answer = await legacy(`seconds=0 ${directives}`, fields);
    expect(answer.status, answer.text).to.equal(200);
    return at((await pollLegacy(String(at(answer.body, 'data.task_id')))).body, 'data');
  }

  async function finishThree(directives: string, settings: Json = {}): Promise<unknown> {
    const answer = await three(`seconds=0 ${directives}`, { settings });
    expect(answer.status, answer.text).to.equal(200);
    return at((await list(`task_ids=${String(at(answer.body, 'data.id'))}`)).body, 'data.0');
  }

  return { sandbox, base, post, legacy, pollLegacy, three, list, finishLegacy, finishThree };
}
