// OpenAI Images as the sandbox plays it: what goes wrong by directive.

import { expect } from 'chai';
import {
  ask,
  at,
  eventually,
  expectSensitive,
  isCutOff,
  newPrompt,
  readAtLeast,
  readJournal,
} from '../support.ts';
import {
  itBreaksConnections,
  itDistortsUsage,
  itRefusesWithoutJob,
  type Submissions,
} from '../vendor-rules.ts';
import { OPENAI_REFUSALS, readOpenaiRefusal } from './refusals.ts';
import { picture, PNG_SIGNATURE, useOpenaiImages } from './images-support.ts';

describe('sandbox: OpenAI Images', () => {
  const { sandbox, url, generate } = useOpenaiImages();

  describe('the directive submit', () => {
    const submissions: Submissions = {
      sandbox,
      submit: (prompt) => ask(url(), { method: 'POST', body: { prompt } }),
    };

    itRefusesWithoutJob(submissions, OPENAI_REFUSALS, readOpenaiRefusal);

    it('refuses twice and then accepts with submit=429*2', async () => {
      const body = { prompt: newPrompt('seconds=0 submit=429*2').prompt };
      const statuses: number[] = [];
      for (const _ of [1, 2, 3]) statuses.push((await ask(url(), { method: 'POST', body })).status);
      expect(statuses).to.eql([429, 429, 200]);
    });

    itBreaksConnections(submissions);

    it('answers with a page for submit=html and without pictures for submit=no_id', async () => {
      const page = await generate('submit=html');
      expect(page.headers.get('content-type')).to.contain('text/html');
      expect((await generate('submit=no_id')).body).to.have.all.keys('created');
    });
  });

  describe('the directives outcome and text', () => {
    for (const directives of ['submit=hang', 'outcome=stuck']) {
      it(`never answers ${directives}, and the journal says when the client disconnected`, async () => {
        const { prompt, marker } = newPrompt(directives);
        const leaving = new AbortController();
        const asking = isCutOff(ask(url(), { method: 'POST', body: { prompt }, signal: leaving.signal }));
        const [waiting] = await eventually(async () => {
          const entries = await readJournal(sandbox(), marker);
          return entries.length > 0 ? entries : undefined;
        });
        expect(waiting).to.include({ status: null, clientClosedAt: null, vendor: 'openai' });
        leaving.abort();
        expect(await asking).to.equal(true);
        const closedAt = await eventually(async () => {
          const [entry] = await readJournal(sandbox(), marker);
          return entry?.clientClosedAt ?? undefined;
        });
        expect(new Date(closedAt).toISOString()).to.equal(closedAt);
      });
    }

    for (const [directives, status, type, code] of [
      ['outcome=fail', 500, 'server_error', null],
      ['outcome=fail reason=invalid', 400, 'invalid_request_error', 'invalid_value'],
      ['outcome=fail reason=quota', 429, 'insufficient_quota', 'insufficient_quota'],
      ['outcome=fail reason=concurrency', 429, 'requests', 'rate_limit_exceeded'],
      ['outcome=fail reason=moderation', 400, 'image_generation_user_error', 'moderation_blocked'],
      ['outcome=moderated', 400, 'image_generation_user_error', 'moderation_blocked'],
      ['outcome=expire', 500, 'server_error', null],
      ['outcome=cancelled', 500, 'server_error', null],
    ] as const) {
      it(`ends ${directives} with ${status} ${code ?? type}`, async () => {
        const answer = await generate(directives);
        expect(answer.status).to.equal(status);
        expect(at(answer.body, 'error')).to.include({ type, code });
      });
    }

    it('shows internal details with text=leaky', async () => {
      for (const directives of ['outcome=fail', 'submit=500']) {
        const message = at((await generate(`text=leaky ${directives}`)).body, 'error.message');
        expectSensitive(message);
      }
    });
  });

  describe('the directives deliver and result', () => {
    it('delivers as many pictures as deliver says, whatever was ordered', async () => {
      expect((await generate('deliver=3')).body['data']).to.have.length(3);
      expect((await generate('deliver=0', { n: 2 })).body['data']).to.eql([]);
    });

    it('delivers no picture with result=404 and result=missing, and an unreachable one with result=private', async () => {
      expect((await generate('result=404')).body['data']).to.eql([{}]);
      expect((await generate('result=missing*1')).body['data']).to.eql([{}]);
      const link = at((await generate('result=private')).body, 'data.0.url');
      expect(link).to.match(/^http:\/\/10\.255\.255\.1\//);
    });

    it('links to a redirect into a private network with result=redirect_private', async () => {
      const link = String(at((await generate('result=redirect_private')).body, 'data.0.url'));
      const answer = await ask(link, { key: null });
      expect(answer.status).to.equal(302);
      expect(answer.headers.get('location')).to.match(/^http:\/\/169\.254\.169\.254\//);
    });

    it('delivers something else than a picture with result=html, javascript and truncated', async () => {
      expect(picture(await generate('result=html')).toString()).to.match(/^<!doctype html>/);
      expect(picture(await generate('result=javascript')).toString()).to.contain('alert(');
      const cut = picture(await generate('result=truncated'));
      expect(cut.toString('hex')).to.match(new RegExp(`^${PNG_SIGNATURE}`));
      expect(cut.includes('IEND')).to.equal(false);
    });

    it('trickles with result=slow and never ends with result=endless', async () => {
      const slow = { prompt: newPrompt('seconds=0 result=slow').prompt };
      expect(await readAtLeast(url(), 10, slow)).to.be.lessThan(200);
      const endless = { prompt: newPrompt('seconds=0 result=endless').prompt };
      expect(await readAtLeast(url(), 1_000_000, endless)).to.be.at.least(1_000_000);
    });
  });

  describe('the directive usage', () => {
    itDistortsUsage(1056, async (directives) => at((await generate(directives)).body, 'usage.output_tokens'));

    it('has no usage with usage=missing', async () => {
      expect((await generate('usage=missing')).body).not.to.have.property('usage');
    });
  });
});
