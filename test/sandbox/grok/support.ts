// What the tests of the sandbox's Grok videos share: submitting a job and polling it.

import { expect } from 'chai';
import type { Sandbox } from '../../../sandbox/server.ts';
import { ask, type HttpAnswer, type Json, newPrompt, useSandbox } from '../support.ts';

export interface GrokVideo {
  sandbox(): Sandbox;
  /** Where jobs are submitted. */
  url(): string;
  submitPrompt(prompt: string, fields?: Json): Promise<HttpAnswer>;
  submit(directives: string, fields?: Json): Promise<HttpAnswer>;
  poll(id: string, key?: string): Promise<HttpAnswer>;
  /** Submits a job that is accepted, and returns its id. */
  start(directives: string, fields?: Json): Promise<string>;
  /** The first poll of a job that takes no time. */
  finish(directives: string, fields?: Json): Promise<HttpAnswer>;
}

/** Starts a sandbox before the tests of the surrounding block and closes it after them. */
export function useGrokVideo(): GrokVideo {
  const sandbox = useSandbox();

  const url = (): string => `${sandbox().url}/xai/v1/videos/generations`;

  const submitPrompt = (prompt: string, fields: Json = {}): Promise<HttpAnswer> =>
    ask(url(), { method: 'POST', body: { model: 'grok-imagine-video', prompt, ...fields } });

  const submit = (directives: string, fields: Json = {}): Promise<HttpAnswer> =>
    submitPrompt(newPrompt(directives).prompt, fields);

  const poll = (id: string, key = 'sk-test'): Promise<HttpAnswer> =>
    ask(`${sandbox().url}/xai/v1/videos/${id}`, { key });

  async function start(directives: string, fields: Json = {}): Promise<string> {
    const answer = await submit(directives, fields);
    expect(answer.status, answer.text).to.equal(200);
    return String(answer.body['request_id']);
  }

  async function finish(directives: string, fields: Json = {}): Promise<HttpAnswer> {
    return poll(await start(`seconds=0 ${directives}`, fields));
  }

  return { sandbox, url, submitPrompt, submit, poll, start, finish };
}
