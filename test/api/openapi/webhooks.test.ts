// What the OpenAPI document says of deliveries to webhooks: each event comes as it is described there.
import { expect } from 'chai';
import { DOCUMENT, findUndocumentedDelivery } from '../../../dev/documented.ts';
import { startGateway, type TestGateway, type TestUser } from '../../support/servers/gateway.ts';
import { orderImage, orderVideo } from '../../support/tasks.ts';
import { untilFinal } from '../../support/until.ts';
import {
  makeWebhook,
  startReceiver,
  untilDelivery,
  type ReceivedWebhook,
  type Receiver,
} from '../../support/webhooks.ts';
import { WEBHOOK_EVENT_TYPES, WEBHOOK_EVENTS } from '../../../domain/webhooks.ts';

/** What any HTTP request has. */
const OF_HTTP = [
  'host',
  'connection',
  'content-length',
  'content-type',
  'user-agent',
  'accept',
  'accept-encoding',
];

describe('the deliveries that the OpenAPI document describes', () => {
  let gateway: TestGateway;
  let receiver: Receiver;
  let owner: TestUser;
  let arrived: ReceivedWebhook[];

  before('every event is sent once', async () => {
    gateway = await startGateway({ webhooks: { retryDelaysMs: [50] } });
    receiver = await startReceiver();
    owner = await gateway.createUser(1000);
    const fields = { url: `${receiver.url}/all`, events: WEBHOOK_EVENTS, balanceBelow: 1000 };
    const { id } = await makeWebhook(owner.session, fields);
    await owner.session.post(`/api/webhooks/${id}/test`);
    await untilFinal(owner.session, (await orderImage(owner.session)).id);
    await untilFinal(owner.session, (await orderVideo(owner.session, 'seconds=0 outcome=fail')).id);
    const stuck = await orderVideo(owner.session, 'outcome=stuck');
    await owner.session.delete(`/api/tasks/${stuck.id}`);
    arrived = await receiver.until('/all', WEBHOOK_EVENT_TYPES.length);
  });
  after(async () => {
    await receiver.close();
    await gateway.stop();
  });

  it('are all there are, and come as described', () => {
    expect(arrived.map(({ body }) => body.type)).to.have.members(Object.keys(DOCUMENT.webhooks));
    expect(WEBHOOK_EVENT_TYPES).to.have.members(Object.keys(DOCUMENT.webhooks));
    for (const { headers, body } of arrived)
      expect(findUndocumentedDelivery({ headers: new Headers(headers), body })).to.deep.equal([]);
  });

  it('have no header that is neither described nor HTTP’s own', () => {
    const { parameters } = Object(DOCUMENT['components']);
    for (const { headers, body } of arrived) {
      const references: { $ref: string }[] = Object(DOCUMENT.webhooks[body.type]).post.parameters;
      const described = references.map(({ $ref }) => parameters[$ref.split('/').at(-1) ?? ''].name);
      expect([...OF_HTTP, ...described]).to.include.members(Object.keys(headers));
    }
  });

  it('are found out where they differ', () => {
    const [first] = arrived;
    if (!first) throw new Error('nothing arrived');
    const { headers, body } = first;
    const judge = (given: object, sent: Record<string, string> = headers) =>
      findUndocumentedDelivery({ headers: new Headers(sent), body: given });
    const { 'webhook-signature': _signature, ...unsigned } = headers;
    const cases: [title: string, problems: string[]][] = [
      ['another event', judge({ ...body, type: 'task.begun' })],
      ['a field that is not described', judge({ ...body, secret: 1 })],
      ['one inside of its data', judge({ ...body, data: { ...body.data, secret: 1 } })],
      ['one that is missing', judge({ ...body, timestamp: undefined })],
      ['no signature', judge(body, unsigned)],
      ['a signature of another form', judge(body, { ...headers, 'webhook-signature': 'v2,abc' })],
      ['another content type', judge(body, { ...headers, 'content-type': 'text/plain' })],
    ];
    for (const [title, problems] of cases) expect(problems, title).to.have.length.above(0);
  });

  it('are answered as described: 2xx is enough, 410 ends it, and anything else is sent again', async () => {
    const responses = Object.keys(Object(DOCUMENT.webhooks['webhook.test']).post.responses);
    expect(responses).to.have.members(['2XX', '410', 'default']);
    const judging = await startReceiver((res, { path }) => void res.writeHead(Number(path.slice(1))).end());
    try {
      for (const [answer, status, attempts] of [
        [299, 'delivered', 1],
        [410, 'failed', 1],
      ] as const) {
        const { id } = await makeWebhook(owner.session, { url: `${judging.url}/${answer}` });
        await owner.session.post(`/api/webhooks/${id}/test`);
        expect(await untilDelivery(owner.session, id, status)).to.include({ attempts });
      }
      const { id } = await makeWebhook(owner.session, { url: `${judging.url}/500` });
      await owner.session.post(`/api/webhooks/${id}/test`);
      await judging.until('/500', 2);
    } finally {
      await judging.close();
    }
  });
});
