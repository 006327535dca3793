// Streams with an Idempotency-Key that are too long to be kept: their repeats are refused, not charged again.
import { expect } from 'chai';
import { KEPT_BUDGET } from '../../../api/chat/delivered-events.ts';
import { createBodyBudget } from '../../../api/http/body-budget.ts';
import { openStream, readCalls, readUntil } from '../../support/chat.ts';
import { beginStream, playChatUpstream } from '../../support/servers/chat-upstream.ts';
import { until } from '../../support/until.ts';

const MIB = 1024 * 1024;
const EVENT_CHARACTERS = 64 * 1024;
const USAGE = { prompt_tokens: 7, completion_tokens: 20, total_tokens: 27 };

describe('a stream with an Idempotency-Key', () => {
  const chat = playChatUpstream();

  /** Calls for a stream of this length; its upstream ends it when `released` resolves. */
  const send = (
    mib: number,
    { key = `of-${mib}`, user = chat.owner, released = Promise.resolve() } = {},
  ): Promise<Response> => {
    chat.play = (res) => {
      beginStream(res);
      for (let sent = 0; sent < mib * MIB; sent += EVENT_CHARACTERS)
        res.write(event({ choices: [{ index: 0, delta: { content: 'a' } }], padding: PADDING }));
      void released.then(() => {
        res.write(event({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }));
        res.end(`${event({ choices: [], usage: USAGE })}data: [DONE]\n\n`);
      });
    };
    const params = { fields: { max_tokens: 4_000 }, headers: { 'idempotency-key': key } };
    return openStream(chat.gateway.baseUrl, user, params);
  };

  it('of less than 8 MiB is repeated whole', async () => {
    const text = await (await send(7)).text();
    const again = await send(7);
    expect(again.headers.get('idempotent-replayed')).to.equal('true');
    expect((await again.text()) === text, 'the repeat has the same text').to.equal(true);
  });

  it('of more is delivered whole, and its repeat is refused at once and charged nothing', async () => {
    const text = await (await send(9)).text();
    expect(text.length).to.be.above(9 * MIB);
    expect(text).to.match(/"credits_charged"[^]*\[DONE\]\s*$/);
    for (let repeat = 0; repeat < 2; repeat += 1) {
      const again = await send(9);
      expect(again.status).to.equal(422);
      expect(again.headers.get('idempotent-replayed')).to.equal(null);
      const { error } = JSON.parse(await again.text());
      expect(error.code).to.equal('idempotency_key_reused');
      expect(error.message).to.contain('too long to be kept');
    }
    const calls = await readCalls(chat.gateway, chat.owner);
    expect(calls.map(({ status, basis }) => [status, basis])).to.deep.equal([['completed', 'upstream']]);
  });

  it('beside others of its user that keep all they may is as one that is too long, until those end', async () => {
    const services = chat.gateway.services.chat;
    services.keptStreams = createBodyBudget({ bytesMax: 4 * MIB, bytesPerCallerMax: 2 * MIB });
    const end = Promise.withResolvers<void>();
    const first = await send(1.5, { key: 'first', released: end.promise });
    const text = await readUntil(first, (read) => read.length > 1.5 * MIB);
    const other = await chat.gateway.createUser();
    for (const user of [chat.owner, other]) await (await send(1, { key: 'second', user })).text();
    expect((await send(1, { key: 'second' })).status).to.equal(422);
    const ofOther = await send(1, { key: 'second', user: other });
    expect(ofOther.headers.get('idempotent-replayed'), 'another user has room of their own').to.equal('true');
    end.resolve();
    const whole = text + (await readUntil(first, () => false));
    expect((await (await send(1.5, { key: 'first' })).text()) === whole, 'the first is repeated').to.equal(
      true,
    );
    await (await send(1.5, { key: 'third' })).text();
    expect((await send(1.5, { key: 'third' })).headers.get('idempotent-replayed')).to.equal('true');
    services.keptStreams = createBodyBudget(KEPT_BUDGET);
  });

  it('has its room until its answer is written, however long the database takes and fails', async () => {
    const { services } = chat.gateway;
    const usual = services.keptAnswers;
    const user = await chat.gateway.createUser();
    const begun = Promise.withResolvers<void>();
    const hanging = Promise.withResolvers<void>();
    const again = Promise.withResolvers<void>();
    let tries = 0;
    const keep: typeof usual.keep = async (...answer) => {
      tries += 1;
      begun.resolve();
      await (tries === 1 ? hanging : again).promise;
      await usual.keep(...answer);
    };
    services.chat.keptStreams = createBodyBudget({ bytesMax: 4 * MIB, bytesPerCallerMax: 2 * MIB });
    try {
      services.keptAnswers = { ...usual, keep };
      const first = send(1.5, { key: 'first', user }).then((answer) => answer.text());
      await begun.promise;
      services.keptAnswers = usual;
      await expectKept('while the write hangs', false);
      hanging.reject(new Error('the database went away'));
      await first;
      await expectKept('while the write is tried again', false);
      again.resolve();
      await until('the answer is written', async () => {
        const repeat = await send(1.5, { key: 'first', user });
        await repeat.text();
        return repeat.ok;
      });
      await expectKept('once it is written', true);
    } finally {
      Object.assign(services, { keptAnswers: usual });
      services.chat.keptStreams = createBodyBudget(KEPT_BUDGET);
    }

    async function expectKept(when: string, isKept: boolean): Promise<void> {
      const stream = { key: when.replaceAll(' ', '-'), user };
      await (await send(1, stream)).text();
      expect((await send(1, stream)).status, when).to.equal(isKept ? 200 : 422);
    }
  });
});

const PADDING = 'x'.repeat(EVENT_CHARACTERS);

function event(chunk: object): string {
  return `data: ${JSON.stringify({ id: 'c', ...chunk })}\n\n`;
}
