// Hostile texts in every field that a caller or a vendor can set: answers that the document promises, no
// failure of ours, nothing of the text in the logs, and no harm to other calls.
import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { DOCUMENT } from '../../../dev/documented.ts';
import { createSession } from '../../../db/identity/sessions.ts';
import { createAdministrator, setVerified } from '../../support/administrators.ts';
import { createCleanup } from '../../support/cleanup.ts';
import { CHAT_MODEL } from '../../support/chat.ts';
import { hostileTexts, shuffled as shuffledBy } from '../../support/hostile-texts.ts';
import { sendRaw } from '../../support/http/raw.ts';
import { stringFieldsOf, withText, type FieldPath } from '../../support/http/string-fields.ts';
import {
  ANSWER,
  ANSWER_FIELDS,
  CHUNK,
  REFUSAL,
  REFUSAL_FIELDS,
  RESPONSE_ANSWER,
  STREAM_FIELDS,
} from '../../support/vendor-answers.ts';
import { startGateway, type TestGateway, type TestUser } from '../../support/servers/gateway.ts';
import { sendJson, startStandIn, type Play } from '../../providers/stand-in.ts';

const SEED = Number(process.env['TEST_SEED'] ?? 1);
/** A busy machine tries fewer of them, always the same first; TEST_SEED begins somewhere else. */
const SECONDS_MAX = 10;
const REQUESTS_MIN = 20;
const CANARY = `canary${randomBytes(9).toString('hex')}`;
const TEXTS = hostileTexts(CANARY);
const shuffled = <Item>(items: readonly Item[]): Item[] => shuffledBy(items, SEED);
const ADMIN_STEPS = /^\/api\/admin\//;

interface Place {
  method: string;
  path: string;
  field: FieldPath;
  example: unknown;
}

describe(`hostile texts (TEST_SEED=${SEED})`, () => {
  let gateway: TestGateway;
  let owner: TestUser;
  let neighbour: TestUser;
  let chief: TestUser;
  let play: Play = (res, { path }) =>
    sendJson(res, 200, path.endsWith('/responses') ? RESPONSE_ANSWER : ANSWER);
  const cleanup = createCleanup();
  const cookies = new Map<'owner' | 'chief', string>();

  before(async () => {
    const vendor = await startStandIn((res, req) => play(res, req));
    cleanup.later(() => vendor.close());
    gateway = await startGateway({ worker: false, env: { OPENAI_BASE_URL: `${vendor.url}/v1` } });
    cleanup.later(() => gateway.stop());
    owner = await gateway.createUser(1_000_000);
    neighbour = await gateway.createUser(1_000);
    chief = await createAdministrator(gateway);
    await renewSessions();
  });
  after(() => cleanup.run());
  afterEach(async () => {
    await gateway.expectSoundMoney();
    expect(gateway.logged().includes(CANARY), 'the canary stands in the logs').to.equal(false);
  });

  async function renewSessions(): Promise<void> {
    cookies.set('owner', await createSession(gateway.em(), gateway.secrets, owner.id));
    cookies.set('chief', await createSession(gateway.em(), gateway.secrets, chief.id));
    await setVerified(gateway, chief, true);
  }

  function identityFor(path: string): Record<string, string> {
    if (path.startsWith('/v1/')) return { authorization: `Bearer ${owner.apiKey}` };
    return { cookie: `svc_session=${cookies.get(ADMIN_STEPS.test(path) ? 'chief' : 'owner')}` };
  }

  it('in any field of any body are answered as the document says, and never with 5xx', async () => {
    const places = bodyPlaces();
    expect(places.length).to.be.above(40);
    const tries = shuffled(
      places.flatMap((place) => TEXTS.map(([name, text]) => ({ ...place, name, text }))),
    );
    await inTime(tries, async ({ method, path, field, example, name, text }) => {
      const { status, text: answer } = await sendRaw(gateway.baseUrl, {
        ...{ method, path: path.replaceAll(/\{\w+\}/g, 'x') },
        headers: { ...identityFor(path), 'content-type': 'application/json' },
        body: Buffer.from(JSON.stringify(withText(example, field, text))),
      });
      const what = `${method} ${path} ${field.join('.')}: ${name}`;
      expect(status, `${what}: ${answer.slice(0, 300)}`).to.be.within(200, 499);
      expect(answer.isWellFormed(), what).to.equal(true);
      if (status === 401) await renewSessions();
    });
  });

  it('in any query are answered as the document says, and never with 5xx', async () => {
    const tries = shuffled(
      Object.entries(DOCUMENT.paths).flatMap(([path, methods]) =>
        // A stream of events would not end.
        Object.entries(methods)
          .filter(isNoStream)
          .flatMap(([method, operation]) =>
            [...queryNames(operation), 'cursor', CANARY].flatMap((name) =>
              TEXTS.filter(([, text]) => text.length < 2_000).map(([title, text]) => ({
                path,
                method,
                name,
                title,
                text,
              })),
            ),
          ),
      ),
    ).filter(({ method }) => method === 'get');
    await inTime(tries, async ({ path, name, title, text }) => {
      const query = new URLSearchParams({ [name]: text.toWellFormed() });
      const { status, text: answer } = await sendRaw(gateway.baseUrl, {
        path: `${path.replaceAll(/\{\w+\}/g, encodeURIComponent(text.slice(0, 50).toWellFormed()))}?${query.toString()}`,
        headers: identityFor(path),
      });
      expect(status, `${path} ${name}: ${title}: ${answer.slice(0, 300)}`).to.be.within(200, 499);
    });
  });

  const chat = (user: TestUser, fields: object = {}) =>
    user.key.post('/v1/chat/completions', {
      ...{ model: CHAT_MODEL, max_tokens: 50, messages: [{ role: 'user', content: 'Hello.' }] },
      ...fields,
    });

  it('in any field of a vendor’s answer reach the caller, or are the vendor’s fault', async () => {
    const tries = shuffled(
      ANSWER_FIELDS.flatMap((field) => TEXTS.map(([name, text]) => ({ field, name, text }))),
    );
    await inTime(tries, async ({ field, name, text }) => {
      play = (res) => {
        res.writeHead(200, { 'content-type': 'application/json' });
        res.end(JSON.stringify(withText(ANSWER, field, text)));
      };
      const { status } = await chat(owner);
      expect([200, 502], `${field.join('.')}: ${name}`).to.include(status);
    });
  });

  it('in any field of a vendor’s stream end the stream, or stand in it, and the next call is fine', async () => {
    const tries = shuffled(
      STREAM_FIELDS.flatMap((field) => TEXTS.map(([name, text]) => ({ field, name, text }))),
    );
    await inTime(tries, async ({ field, name, text }) => {
      play = (res) => {
        res.writeHead(200, { 'content-type': 'text/event-stream' });
        res.write(`data: ${JSON.stringify(withText(CHUNK, field, text))}\n\n`);
        res.end(
          `data: ${JSON.stringify({ ...CHUNK, choices: [], usage: ANSWER.usage })}\n\ndata: [DONE]\n\n`,
        );
      };
      const answer = await fetch(`${gateway.baseUrl}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${owner.apiKey}`, 'content-type': 'application/json' },
        body: JSON.stringify({
          model: CHAT_MODEL,
          stream: true,
          max_tokens: 50,
          messages: [{ role: 'user', content: 'a' }],
        }),
      });
      const events = await answer.text();
      expect(answer.status, `${field.join('.')}: ${name}`).to.equal(200);
      expect(events, name).to.match(/data: \[DONE\]\n\n$|"error"/);
    });
  });

  it('in any field of a vendor’s refusal are masked, cut and kept, and no neighbour’s call fails', async () => {
    const tries = shuffled(
      REFUSAL_FIELDS.flatMap((field) => TEXTS.map(([name, text]) => ({ field, name, text }))),
    );
    await inTime(tries, async ({ field, name, text }) => {
      play = (res, { body }) => {
        const isNeighbours = body.includes('Hello, neighbour.');
        res.writeHead(isNeighbours ? 200 : 400, { 'content-type': 'application/json' });
        res.end(JSON.stringify(isNeighbours ? ANSWER : withText(REFUSAL, field, text)));
      };
      const fine = { messages: [{ role: 'user', content: 'Hello, neighbour.' }] };
      const [refused, other] = await Promise.all([chat(owner), chat(neighbour, fine)]);
      expect(refused.status, `${field.join('.')}: ${name}`).to.be.oneOf([400, 502, 503]);
      expect(refused.body.error.message.isWellFormed()).to.equal(true);
      expect(refused.body.error.message.length).to.be.at.most(500);
      expect(other.status, `beside ${field.join('.')}: ${name}`).to.equal(200);
    });
    await renewSessions(); // a password may have been changed before
    const usage = await sendRaw(gateway.baseUrl, { path: '/api/usage', headers: identityFor('/api/usage') });
    expect(usage.status).to.equal(200);
  });

  /** Runs the tries in order until the time is over. */
  async function inTime<Try>(tries: readonly Try[], run: (one: Try) => Promise<void>): Promise<void> {
    const until = performance.now() + SECONDS_MAX * 1_000;
    let done = 0;
    for (const one of tries) {
      if (done >= REQUESTS_MIN && performance.now() > until) return;
      await run(one);
      done += 1;
    }
  }
});

/** Every text field of every body that the document describes, with the body's first example. */
function bodyPlaces(): Place[] {
  return Object.entries(DOCUMENT.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, operation]) => {
      const content = Object(operation).requestBody?.content['application/json'];
      if (!content) return [];
      const [first] = Object.values<{ value: unknown }>(content.examples ?? {});
      const place = { method: method.toUpperCase(), path, example: first?.value ?? {} };
      return stringFieldsOf(content.schema).map((field) => ({ ...place, field }));
    }),
  );
}

function isNoStream([, operation]: [string, unknown]): boolean {
  return Object(operation).responses?.['200']?.content?.['text/event-stream'] === undefined;
}

function queryNames(operation: unknown): string[] {
  const parameters: { in: string; name: string }[] = Object(operation).parameters ?? [];
  return parameters.filter((parameter) => parameter.in === 'query').map(({ name }) => name);
}
