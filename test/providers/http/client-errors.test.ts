// The outbound call that is answered with an error: its class, the vendor’s words, and how long to wait.
import { expect } from 'chai';
import { requestJson } from '../../../providers/http/client.ts';
import { readRetryAfter } from '../../../providers/http/status.ts';
import { failureOf, sendEndlessly, sendJson, verdictOf } from '../stand-in.ts';
import { describeCalls } from './client-support.ts';

describeCalls((vendor) => {
  const { call } = vendor;

  describe('that is answered with an error', () => {
    const verdicts: Record<number, string> = {
      302: 'invalid_response, refused',
      400: 'invalid, refused',
      401: 'auth, not_received',
      402: 'quota, not_received',
      403: 'auth, not_received',
      404: 'model_retired, refused',
      408: 'transient, unknown',
      410: 'model_retired, refused',
      413: 'invalid, refused',
      422: 'invalid, refused',
      429: 'rate, not_received',
      500: 'transient, unknown',
      502: 'transient, unknown',
      503: 'transient, not_received',
      504: 'transient, unknown',
      520: 'transient, unknown',
    };
    for (const [status, verdict] of Object.entries(verdicts)) {
      it(`is ${verdict} for ${status}`, async () => {
        vendor.play = (res) => sendJson(res, Number(status), { error: { message: 'no' } });
        expect(verdictOf(await failureOf(requestJson(call())))).to.equal(verdict);
      });
    }

    const texts: { title: string; body: string; text: string | null }[] = [
      { title: 'an error object', body: '{"error":{"message":"bad size","code":"x"}}', text: 'bad size' },
      { title: 'a code and a text', body: '{"code":"Some code","error":"bad size"}', text: 'bad size' },
      { title: 'a text alone', body: '{"error":"bad size"}', text: 'bad size' },
      {
        title: 'an error in a list',
        body: '[{"error":{"message":"bad size","code":400}}]',
        text: 'bad size',
      },
      { title: 'a detail', body: '{"detail":"bad size"}', text: 'bad size' },
      { title: 'plain text', body: 'bad size', text: 'bad size' },
      { title: 'HTML', body: '<html>bad size</html>', text: null },
      { title: 'cut JSON', body: '{"error":{"mess', text: null },
      { title: 'nothing', body: '', text: null },
    ];
    for (const { title, body, text } of texts) {
      it(`has the vendor’s words from ${title}`, async () => {
        vendor.play = (res) => res.writeHead(400).end(body);
        expect((await failureOf(requestJson(call()))).text).to.equal(text);
      });
    }

    it('keeps its class when the error body never ends or breaks off', async () => {
      vendor.play = (res) => sendEndlessly(res.writeHead(429));
      expect(verdictOf(await failureOf(requestJson(call())))).to.equal('rate, not_received');
      vendor.play = (res) => {
        res.writeHead(401, { 'content-length': '100' });
        res.write('{', () => res.destroy());
      };
      expect(verdictOf(await failureOf(requestJson(call())))).to.equal('auth, not_received');
    });

    it('does not follow a redirect, not even to itself', async () => {
      vendor.play = (res) => res.writeHead(307, { location: '/elsewhere' }).end();
      const before = vendor.received.length;
      await failureOf(requestJson(call()));
      expect(vendor.received.length - before).to.equal(1);
    });

    it('says how long the vendor asks to wait', async () => {
      vendor.play = (res) => sendJson(res, 429, {}, { 'retry-after': '7' });
      expect((await failureOf(requestJson(call()))).retryAfterMs).to.equal(7_000);
    });
  });

  it('reads how long to wait as seconds, milliseconds or a date, and never more than an hour', () => {
    const now = Date.parse('2026-11-21T00:00:00Z');
    const read = (headers: Record<string, string>): number | null => readRetryAfter(headers, now);
    expect(read({ 'retry-after': '1.5' })).to.equal(1_500);
    expect(read({ 'retry-after-ms': '250', 'retry-after': '1' })).to.equal(250);
    expect(read({ 'retry-after': 'Sat, 21 Nov 2026 00:01:00 GMT' })).to.equal(60_000);
    expect(read({ 'retry-after': 'Fri, 20 Nov 2026 00:00:00 GMT' })).to.equal(0);
    expect(read({ 'retry-after': '86400' })).to.equal(3_600_000);
    expect(read({ 'retry-after': 'soon' })).to.equal(null);
    expect(read({})).to.equal(null);
  });
});
