// One canary for each way a secret can come in; afterwards each is looked for in every place that keeps or
// shows something.
import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { PNG_BASE64 } from '../../support/inputs.ts';
import { decryptPrompts } from '../../../db/tasks/requests.ts';
import { SENSITIVE_PARTS } from '../../../sandbox/error-text.ts';
import { createCleanup } from '../../support/cleanup.ts';
import { openEngine, type TestEngine } from '../../support/servers/engine.ts';
import { readAllHistories, readWholeDatabase } from '../../support/everything.ts';
import { startGateway, type TestGateway, type TestUser } from '../../support/servers/gateway.ts';
import type { Actor } from '../../support/http/http.ts';
import { startWorkerProcess, type TestProcess } from '../../support/servers/process.ts';
import { IMAGE_MODEL, VIDEO_MODEL } from '../../support/tasks.ts';
import { until, untilFinal } from '../../support/until.ts';

const canary = (place: string): string => `canary${place}${randomBytes(9).toString('hex')}`;

describe('a secret', () => {
  let gateway: TestGateway;
  let engine: TestEngine;
  let worker: TestProcess;
  const cleanup = createCleanup();
  let owner: TestUser;
  let stranger: TestUser;
  const prompt = canary('prompt');
  const echoed = canary('echo');
  const secrets: Record<string, string> = {
    'the query of an image URL': canary('query'),
    'the path of an image URL': canary('path'),
    'a data URI': canary('data'),
    'an authorization in another field': canary('bearer'),
    'a cookie in another field': canary('cookie'),
    'a key in another field': canary('apikey'),
    'a header of the request': canary('header'),
    'the query of the request': canary('search'),
    ...Object.fromEntries(
      Object.entries(SENSITIVE_PARTS).map(([part, text]) => [`a vendor’s ${part}`, text]),
    ),
  };
  const ids: string[] = [];
  /** Every answer that the owner got, without the prompt that the owner alone sees. */
  const ownersAnswers: string[] = [];
  const strangersAnswers: string[] = [];

  before(async () => {
    gateway = await startGateway({ worker: false });
    cleanup.later(() => gateway.stop());
    // The worker is a process of its own, so that all its output is seen, the native part's too.
    worker = await startWorkerProcess({ ...gateway.env, SVC_LOG_LEVEL: 'debug' });
    cleanup.later(() => worker.kill());
    engine = await openEngine(gateway);
    cleanup.later(() => engine.close());
    owner = await gateway.createUser(1_000);
    stranger = await gateway.createUser(1_000);
    await orderAll();
    for (const id of ids) await untilFinal(owner.session, id);
    for (const id of ids) await engine.untilClosed(id);
    await readAll(owner, ownersAnswers);
    await readAll(stranger, strangersAnswers);
    await readAll({ key: gateway.anonymous, session: gateway.anonymous }, strangersAnswers);
  });
  after(() => cleanup.run());
  afterEach(() => gateway.expectSoundMoney());

  async function orderAll(): Promise<void> {
    const directives = [
      'seconds=0',
      'seconds=0 submit=400 text=leaky',
      'seconds=0 submit=500 text=leaky',
      'seconds=0 submit=401 text=leaky',
      'seconds=0 outcome=fail reason=invalid text=leaky',
      'seconds=0 outcome=fail reason=quota text=leaky',
      'seconds=0 outcome=moderated text=leaky',
      'seconds=0 poll=500*1 text=leaky',
      'seconds=0 submit=429*1 text=leaky',
      `seconds=0 ${echoed}=1`, // the sandbox repeats an unknown word in its refusal
    ];
    const headers = {
      cookie: `session=${secrets['a header of the request']}`,
      'x-api-key': String(secrets['a header of the request']),
    };
    const path = `?signature=${secrets['the query of the request']}`;
    for (const directive of directives) {
      const text = `${prompt} ${echoed} [[sandbox ${directive}]]`;
      const image = await owner.key.post(`/v1/images/generations${path}`, imageBody(text), headers);
      const video = await owner.key.post(`/v1/videos/generations${path}`, videoBody(text), headers);
      for (const { status, body } of [image, video]) {
        expect(status, JSON.stringify(body)).to.equal(202);
        ids.push(body.id ?? body.data.id);
        keep(ownersAnswers, body);
      }
    }
    // Refused requests pass through other code.
    const refusedImage = {
      ...imageBody(prompt),
      image_urls: [`http://${secrets['the path of an image URL']}.example/`],
    };
    keep(ownersAnswers, (await owner.key.post('/v1/images/generations', refusedImage, headers)).body);
    const refusedField = { ...imageBody(prompt), resolution: `${secrets['a cookie in another field']}` };
    keep(strangersAnswers, (await gateway.anonymous.post('/v1/images/generations', refusedField)).body);
  }

  function imageBody(text: string) {
    // Behind the end of an image there may be anything: here the canary, in whole groups of three bytes.
    const png = Buffer.from(PNG_BASE64, 'base64');
    const encoded = Buffer.concat([png, Buffer.alloc((3 - (png.length % 3)) % 3)]).toString('base64');
    const data = `data:image/png;base64,${encoded}${secrets['a data URI']}`;
    const padded = data + 'A'.repeat((4 - ((data.length - 22) % 4)) % 4);
    return { model: IMAGE_MODEL, prompt: text, image_urls: [padded], extra: extraFields() };
  }

  function videoBody(text: string) {
    const { 'the query of an image URL': query, 'the path of an image URL': path } = secrets;
    const url = `https://images.example.com/${path}.png?signature=${query}`;
    return {
      model: VIDEO_MODEL,
      prompt: text,
      duration: 1,
      image_urls: [url],
      resolution: '480p',
      extra: extraFields(),
    };
  }

  /** Fields that no model knows: kept with the request, and masked. */
  function extraFields() {
    const { 'an authorization in another field': bearer, 'a cookie in another field': cookie } = secrets;
    const key = secrets['a key in another field'];
    return {
      authorization: `Bearer ${bearer}`,
      headers: { Cookie: `sid=${cookie}`, 'X-Api-Key': key, Authorization: `Basic ${bearer}` },
      note: `sent with Bearer ${bearer}`,
      nested: [{ api_key: key, password: key, client_secret: key }],
    };
  }

  async function readAll(reader: { key: Actor; session: Actor }, answers: string[]): Promise<void> {
    const { key, session } = reader;
    keep(answers, (await session.get('/api/tasks?limit=100')).body);
    keep(answers, (await session.get('/api/balance?includeLedger=1')).body);
    for (const id of ids) {
      keep(answers, (await session.get(`/api/tasks/${id}`)).body);
      keep(answers, (await session.get(`/api/tasks/${id}/timeline`)).body);
      keep(answers, (await session.delete(`/api/tasks/${id}`)).body);
      keep(answers, (await key.get(`/v1/images/tasks/${id}`)).body);
      keep(answers, (await key.get(`/v1/videos/tasks/${id}`)).body);
    }
  }

  /** Records an answer; the owner's without `requestPayload.prompt`, which the owner may read. */
  function keep(answers: string[], body: unknown): void {
    const isOwners = answers === ownersAnswers;
    answers.push(
      JSON.stringify(body, (name, value: unknown) => (isOwners && name === 'prompt' ? undefined : value)),
    );
  }

  function expectNowhere(places: Iterable<[string, string]>): void {
    const all = Object.entries({ ...secrets, 'the prompt': prompt, 'the prompt, echoed': echoed });
    for (const [place, text] of places) {
      for (const [what, secret] of all) {
        for (const form of [secret, encodeURIComponent(secret), Buffer.from(secret).toString('hex')]) {
          const at = text.toLowerCase().indexOf(form.toLowerCase());
          const around = at < 0 ? '' : text.slice(Math.max(0, at - 80), at + form.length + 40);
          expect(around, `${what} stands in ${place}`).to.equal('');
        }
      }
    }
  }

  it('was really there: the owner reads the prompt, and the vendor’s leaky words were written', async () => {
    const { body } = await owner.session.get(`/api/tasks/${ids[0]}`);
    expect(body.data.requestPayload.prompt).to.include(prompt);
    const prompts = await decryptPrompts(gateway.em(), gateway.secrets, ids);
    expect(prompts.size).to.equal(ids.length);
    const messages = ownersAnswers.join('\n');
    expect(messages).to.include('refused'); // of the leaky sentence, what may be read
    expect(messages).to.include('[masked');
  });

  it('is not in any answer to somebody else', () => {
    expectNowhere(strangersAnswers.map((text, index) => [`answer ${index} to a stranger`, text]));
  });

  it('is not in any answer to its owner, but for the prompt in its own field', () => {
    expectNowhere(ownersAnswers.map((text, index) => [`answer ${index} to the owner`, text]));
  });

  it('is not in what API and worker log', () => {
    const written = worker.lines().join('\n');
    expect(written).to.include('"activityType":"submit"'); // it had something to say
    expectNowhere([
      ['the log of the API', gateway.logged()],
      ['the output of the worker', written],
    ]);
  });

  it('is not in the engine: histories with their payloads, memos, search attributes, failures', async () => {
    await until('all runs are listed', async () => (await readAllHistories(engine)).size >= ids.length);
    const histories = await readAllHistories(engine);
    expect([...histories.values()].join('\n')).to.include(`"taskId":"${ids[0]}"`); // payloads were decoded
    expectNowhere(histories);
  });

  it('is not in the database, the encrypted request included', async () => {
    const columns = await readWholeDatabase(gateway);
    expect(columns.get('task.id')).to.include(ids[0]);
    expect(columns.get('task_request.prompt')).to.have.length.greaterThan(100);
    expectNowhere(columns);
  });
});
