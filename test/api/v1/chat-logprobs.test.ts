// POST /v1/chat/completions with `logprobs`: the caller gets the vendor's log probabilities unchanged.
import { expect } from 'chai';
import { CHAT_MODEL, eventsIn, say } from '../../support/chat.ts';
import { startGateway, type TestGateway, type TestUser } from '../../support/servers/gateway.ts';

const TOKENS = 5;
const FIELDS = { model: CHAT_MODEL, messages: say(`tokens=${TOKENS} delay=0`), logprobs: true };

interface Told {
  token: string;
  logprob: number;
  bytes: number[];
  top_logprobs: Omit<Told, 'top_logprobs'>[];
}

interface Choice {
  message?: { content: string };
  logprobs: { content: Told[]; refusal: null } | null;
}

describe('POST /v1/chat/completions with `logprobs`', () => {
  let gateway: TestGateway;
  let user: TestUser;

  before(async () => {
    gateway = await startGateway({ worker: false });
    user = await gateway.createUser();
  });
  afterEach(() => gateway.expectSoundMoney());
  after(() => gateway.stop());

  const send = async (url: string, key: string, body: object): Promise<string> => {
    const response = await fetch(url, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const text = await response.text();
    expect(response.status, text).to.equal(200);
    return text;
  };
  const viaGateway = (body: object): Promise<string> =>
    send(`${gateway.baseUrl}/v1/chat/completions`, user.apiKey, body);
  const fromVendor = (body: object): Promise<string> =>
    send(`${gateway.sandboxUrl}/openai/v1/chat/completions`, 'sk-vendor', body);
  const choicesOf = (text: string): Choice[] => JSON.parse(text).choices;
  const toldIn = (events: string): Told[] =>
    eventsIn(events)
      .filter((event) => event !== '[DONE]')
      .flatMap(choicesOf)
      .flatMap(({ logprobs }) => logprobs?.content ?? []);

  for (const top of [undefined, 0, 3, 20])
    it(`tells those of each token, with ${top ?? 'no'} alternatives, whole and in a stream`, async () => {
      const body = { ...FIELDS, ...(top !== undefined && { top_logprobs: top }) };
      const [choice] = choicesOf(await viaGateway(body));
      expect([choice]).to.deep.equal(choicesOf(await fromVendor(body)));
      const told = choice?.logprobs?.content ?? [];
      expect(told.map(({ token }) => token).join('')).to.equal(choice?.message?.content);
      expect(told.length).to.equal(TOKENS);
      for (const { token, logprob, bytes, top_logprobs: likeliest } of told) {
        expect(logprob).to.be.within(-2, 0);
        expect(Buffer.from(bytes).toString()).to.equal(token);
        expect(likeliest.length).to.equal(top ?? 0);
        if (likeliest[0]) expect(likeliest[0]).to.deep.equal({ token, logprob, bytes });
        const together = likeliest.reduce((sum, each) => sum + Math.exp(each.logprob), 0);
        expect(together).to.be.at.most(1.000_001);
      }
      expect(toldIn(await viaGateway({ ...body, stream: true }))).to.deep.equal(told);
    });

  it('tells none where none are asked for', async () => {
    const [choice] = choicesOf(await viaGateway({ ...FIELDS, logprobs: false }));
    expect(choice?.logprobs).to.equal(null);
    expect(toldIn(await viaGateway({ ...FIELDS, logprobs: false, stream: true }))).to.deep.equal([]);
  });
});
