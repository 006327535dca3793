// An API that is told to stop: unready at once, still serving, and gone without cutting off a request.
import { connect } from 'node:net';
import { expect } from 'chai';
import { createCleanup } from '../support/cleanup.ts';
import { startGateway, type TestGateway, type TestUser } from '../support/servers/gateway.ts';
import { startApiProcess, type ApiProcess } from '../support/servers/process.ts';
import { converse, sendRaw, type RawAnswer } from '../support/http/raw.ts';
import { IMAGE_MODEL, readAvailable } from '../support/tasks.ts';
import { until, untilFinal } from '../support/until.ts';

describe('an API that is told to stop', () => {
  const cleanup = createCleanup();
  let gateway: TestGateway;
  let owner: TestUser;

  before(async () => {
    gateway = await startGateway();
    cleanup.later(() => gateway.stop());
    owner = await gateway.createUser(10_000);
  });
  after(() => cleanup.run());

  async function startApi(env: Record<string, string> = {}): Promise<ApiProcess> {
    const api = await startApiProcess({ ...gateway.env, ...env });
    cleanup.later(() => api.process.kill());
    return api;
  }

  const isReady = async ({ internalUrl }: ApiProcess): Promise<boolean> =>
    (await fetch(`${internalUrl}/readyz`)).ok;

  function create({ baseUrl }: ApiProcess): Promise<RawAnswer> {
    return sendRaw(baseUrl, {
      method: 'POST',
      path: '/v1/images/generations',
      headers: { authorization: `Bearer ${owner.apiKey}`, 'content-type': 'application/json' },
      body: Buffer.from(JSON.stringify({ model: IMAGE_MODEL, prompt: 'a cat [[sandbox seconds=0]]' })),
    });
  }

  it('under load: every request it took is answered, the process ends with 0, and nothing stays reserved', async () => {
    const api = await startApi({ SVC_DRAIN_SECONDS: '5' });
    const answers: RawAnswer[] = [];
    const errors: unknown[] = [];
    let isServing = true;
    // Plays a load balancer, which sends requests as long as the API is ready.
    const callers = Array.from({ length: 8 }, async () => {
      while (isServing)
        await create(api).then(
          (answer) => answers.push(answer),
          (error) => errors.push(error),
        );
    });
    await until('there is load', async () => answers.length > 30);
    const toldAt = Date.now();
    const stopped = api.process.stop();
    await until('it is unready', async () => !(await isReady(api)));
    isServing = false;
    expect((await fetch(`${api.internalUrl}/livez`)).status).to.equal(200);
    expect((await create(api)).status, 'it still serves').to.equal(202);
    await Promise.all(callers);
    expect(await stopped).to.equal(0);
    expect(Date.now() - toldAt).to.be.below(30_000);
    expect(errors).to.deep.equal([]);
    expect(new Set(answers.map(({ status }) => status))).to.deep.equal(new Set([202]));
    for (const { text } of answers) await untilFinal(owner.session, JSON.parse(text).id);
    expect(await readAvailable(owner)).to.include({ reserved: 0 });
    await gateway.expectSoundMoney();
  });

  it('answers what is still arriving, says that the connection ends, and takes no new one', async () => {
    const api = await startApi();
    const port = Number(new URL(api.baseUrl).port);
    const body = JSON.stringify({ model: IMAGE_MODEL, prompt: 'a cat [[sandbox seconds=0]]' });
    const head =
      `POST /v1/images/generations HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${owner.apiKey}\r\n` +
      `content-type: application/json\r\ncontent-length: ${body.length}\r\nexpect: 100-continue\r\n\r\n`;
    let stopped: Promise<number | null> | undefined;
    const idle = connect(port, '127.0.0.1');
    const conversation = converse(api.baseUrl, [
      head,
      {
        text: body,
        after: '100 Continue',
        when: async () => {
          stopped = api.process.stop();
          await until('new connections are refused', () => isRefused(port));
        },
      },
    ]);
    const { answers, closed } = await conversation;
    expect(answers.map(({ status }) => status)).to.deep.equal([100, 202]);
    expect(answers[1]?.headers['connection']).to.equal('close');
    expect(closed).to.equal(true);
    expect(await stopped).to.equal(0);
    idle.destroy();
  });

  it('while it still serves: each answer is the last one of its connection', async () => {
    const api = await startApi({ SVC_DRAIN_SECONDS: '5' });
    const read = 'GET /openapi.json HTTP/1.1\r\nhost: x\r\n\r\n';
    let stopped: Promise<number | null> | undefined;
    const { answers, closed } = await converse(api.baseUrl, [
      read,
      {
        text: read,
        after: '\r\n\r\n{',
        when: async () => {
          stopped = api.process.stop();
          await until('it is unready', async () => !(await isReady(api)));
        },
      },
    ]);
    expect(answers.map(({ status, headers }) => [status, headers['connection']])).to.deep.equal([
      [200, 'keep-alive'],
      [200, 'close'],
    ]);
    expect(closed).to.equal(true);
    expect(await stopped).to.equal(0);
  });

  it('told twice, it ends at once', async () => {
    const api = await startApi({ SVC_DRAIN_SECONDS: '15' });
    const stopped = api.process.stop();
    await until('it is unready', async () => !(await isReady(api)));
    expect(await Promise.all([api.process.stop(), stopped])).to.deep.equal([1, 1]);
  });
});

function isRefused(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(false);
    });
    socket.on('error', () => resolve(true));
  });
}
