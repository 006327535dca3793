// Streams with an Idempotency-Key that are too long to be kept: their repeats are refused, not charged again.
import { expect } from 'chai';
import { openStream, readCalls } from '../../support/chat.ts';
import { beginStream, playChatUpstream } from '../../support/servers/chat-upstream.ts';

const MIB = 1024 * 1024;
const EVENT_CHARACTERS = 64 * 1024;
const USAGE = { prompt_tokens: 7, completion_tokens: 20, total_tokens: 27 };

describe('a stream with an Idempotency-Key', () => {
  const chat = playChatUpstream();

  const send = (mib: number): Promise<Response> => {
    chat.play = (res) => {
      beginStream(res);
      for (let sent = 0; sent < mib * MIB; sent += EVENT_CHARACTERS)
        res.write(event({ choices: [{ index: 0, delta: { content: 'a' } }], padding: PADDING }));
      res.write(event({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }));
      res.end(`${event({ choices: [], usage: USAGE })}data: [DONE]\n\n`);
    };
    const params = { fields: { max_tokens: 4_000 }, headers: { 'idempotency-key': `of-${mib}` } };
    return openStream(chat.gateway.baseUrl, chat.owner, params);
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
});

const PADDING = 'x'.repeat(EVENT_CHARACTERS);

function event(chunk: object): string {
  return `data: ${JSON.stringify({ id: 'c', ...chunk })}\n\n`;
}
