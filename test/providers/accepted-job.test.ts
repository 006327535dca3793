// Which ids of jobs are taken from vendors, and what an answer without a usable one is.
import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { acceptedJob } from '../../providers/accepted-job.ts';
import { UpstreamFailure } from '../../providers/provider.ts';
import { videoJob } from './stand-in.ts';

const accept = (id: unknown) => acceptedJob(videoJob(), id, 'req_1');

describe('the id of a vendor’s job', () => {
  for (const id of ['r-1', ' with spaces ', '任務-一', 'x'.repeat(2_000)])
    it(`is kept as it is: ${id.slice(0, 20)}, of ${id.length} characters`, () => {
      const handle = { id, credential: 'default' };
      expect(accept(id)).to.deep.equal({ kind: 'accepted', handle, upstreamRequestId: 'req_1' });
    });

  const unusable = {
    'is missing': undefined,
    'is empty': '',
    'is a number': 17,
    'contains NUL': 'r-1\0',
    'contains half a character': 'r-\ud83d',
    'is longer than an index takes': randomBytes(1_001).toString('hex'),
    'is longer than that in bytes': '任'.repeat(667),
  };
  for (const [what, id] of Object.entries(unusable))
    it(`that ${what} is an answer after which the outcome is unknown`, () => {
      expect(() => accept(id))
        .to.throw(UpstreamFailure)
        .that.includes({ errorClass: 'invalid_response', fate: 'unknown' });
    });
});
