// Veo as the sandbox plays it on Vertex, and the tokens that it takes there.

import { expect } from 'chai';
import { at } from '../support.ts';
import { useVeo, veoOrder, VERTEX_HEADERS } from './veo-support.ts';

const PROJECT = '/google/v1/projects/p-1/locations/us-central1';

describe('sandbox: Veo', () => {
  const { sandbox, send } = useVeo();

  describe('on Vertex', () => {
    const model = `${PROJECT}/publishers/google/models/veo-3.1-generate-001`;

    it('takes a token, is polled by POST, and answers with the video itself', async () => {
      const body = veoOrder('seconds=0', { generateAudio: false, sampleCount: 1 });
      expect((await send(`${model}:predictLongRunning`, { body })).status).to.equal(401);
      const { body: created } = await send(`${model}:predictLongRunning`, { body, headers: VERTEX_HEADERS });
      const operationName = String(created['name']);
      expect(operationName).to.match(
        /^projects\/p-1\/locations\/us-central1\/publishers\/google\/models\/.*\/operations\/[\w-]+$/,
      );
      const { body: done } = await send(`${model}:fetchPredictOperation`, {
        body: { operationName },
        headers: VERTEX_HEADERS,
      });
      const video = Buffer.from(String(at(done, 'response.videos.0.bytesBase64Encoded')), 'base64');
      expect(video.toString('latin1', 4, 8)).to.equal('ftyp');
      const other = { operationName: operationName.replace('p-1', 'p-2') };
      expect(
        (await send(`${model}:fetchPredictOperation`, { body: other, headers: VERTEX_HEADERS })).status,
      ).to.equal(400);
    });

    it('gives a token for a well-made assertion alone', async () => {
      const now = Math.floor(Date.now() / 1000);
      const aud = `${sandbox().url}/google/token`;
      const good = { iss: 'svc@p.example', scope: 's', aud, iat: now, exp: now + 3_600 };
      const exchange = async (claims: object, alg = 'RS256'): Promise<Response> => {
        const write = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url');
        const assertion = `${write({ alg, typ: 'JWT' })}.${write(claims)}.signature`;
        const grant_type = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
        return fetch(aud, { method: 'POST', body: new URLSearchParams({ grant_type, assertion }) });
      };
      expect(await (await exchange(good)).json()).to.include({ expires_in: 3_599, token_type: 'Bearer' });
      for (const claims of [
        { iss: 'x' },
        { aud: 'https://example.com' },
        { exp: now - 1 },
        { exp: now + 9_999 },
      ])
        expect((await exchange({ ...good, ...claims })).status, JSON.stringify(claims)).to.equal(400);
      expect((await exchange(good, 'HS256')).status).to.equal(400);
    });
  });
});
