// Every image and video model of the catalogue, with everything that it declares, at the sandbox's vendors:
// taken, delivered, and never dearer than estimated.
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import pLimit from 'p-limit';
import type { Model } from '../../../domain/catalog/catalog.ts';
import { parseCatalog } from '../../../domain/catalog/parse-catalog.ts';
import { computeCharge, quote, snapshotPrice, type Evidence } from '../../../domain/pricing.ts';
import { UpstreamFailure, type Provider, type UpstreamJob } from '../../../providers/provider.ts';
import { startSandbox, type Sandbox } from '../../../sandbox/server.ts';
import { jobOf, providerOf } from './at-the-sandbox.ts';
import { declaredOrders, type DeclaredOrder } from './declared-orders.ts';

const AT_ONCE = 16;
/** A job of no seconds is final at once, or after an empty answer. */
const POLLS_MAX = 100;
const DIRECTIVE = ' [[sandbox seconds=0]]';
const models = [...parseCatalog(JSON.parse(readFileSync('catalog.json', 'utf8'))).models.values()];

describe('the catalogue at the sandbox', () => {
  let sandbox: Sandbox;
  before(async () => (sandbox = await startSandbox({ port: 0, host: '127.0.0.1' })));
  after(() => sandbox.close());

  for (const model of models.filter(({ kind }) => kind !== 'text'))
    it(`takes every order of ${model.id}, for no more than estimated`, async () => {
      const orders = [...declaredOrders(model)];
      expect(orders, 'orders').not.to.be.empty;
      const provider = providerOf(model, sandbox.url);
      const inTurn = pLimit(AT_ONCE);
      const problems = await Promise.all(
        orders.map((each) => inTurn(() => problemOf(provider, model, each))),
      );
      expect(problems.filter((problem) => problem !== null).slice(0, 5)).to.deep.equal([]);
    });

  for (const model of models.filter(({ kind }) => kind !== 'text'))
    it(`takes the longest prompt of ${model.id}, counted in code points`, async () => {
      const [declared] = declaredOrders(model);
      if (!declared) throw new Error('there is no order');
      const job = await jobOf(model, declared);
      const emoji = '\u{1F98A}'.repeat(model.limits.promptCharactersMax - DIRECTIVE.length);
      await deliver(providerOf(model, sandbox.url), { ...job, prompt: `${emoji}${DIRECTIVE}` });
    });
});

/** What went wrong with an order, in one line; null where the vendor took and delivered it. */
async function problemOf(provider: Provider, model: Model, declared: DeclaredOrder): Promise<string | null> {
  const { order } = declared;
  const price = snapshotPrice(model);
  const told = JSON.stringify({ ...order, ...declared.input.options });
  try {
    const evidence = await deliver(provider, await jobOf(model, declared));
    const { loss } = computeCharge(price, order, evidence);
    return loss === 0n
      ? null
      : `${told}: costs ${loss} more than the estimate of ${quote(price, order).total}`;
  } catch (error) {
    if (!(error instanceof UpstreamFailure)) throw error;
    return `${told}: ${error.errorClass}: ${error.text}`;
  }
}

async function deliver(provider: Provider, job: UpstreamJob): Promise<Evidence> {
  const submission = await provider.submit(job);
  if (submission.kind === 'finished') return submission.evidence;
  for (let polls = 0; polls < POLLS_MAX; polls += 1) {
    const state = await provider.poll?.(submission.handle);
    if (state?.kind === 'succeeded') return state.evidence;
    if (state?.kind !== 'queued' && state?.kind !== 'running')
      throw new UpstreamFailure('transient', 'refused', { text: `ended as ${state?.kind}` });
  }
  throw new UpstreamFailure('transient', 'refused', { text: 'does not end' });
}
