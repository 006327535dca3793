// Which answers a disturbance excuses, and which are faults of the gateway.
import { expect } from 'chai';
import { findFaults } from '../../../dev/rehearse/settled.ts';

const TRAFFIC = { accepted: [], requests: 9, slowestSeconds: 0, givenUp: { tasks: 0, chats: 0 } };

describe('answers during a drill', () => {
  it('may tell callers to come again, or be none', () => {
    const refused = {
      ...{ 'no answer': 1, 'cut stream': 1, '502 of the proxy': 2, '503 service_unavailable': 3 },
      ...{ '429 rate_limiter_unavailable': 1, '409 idempotency_in_progress': 1, '504 upstream_timeout': 1 },
    };
    expect(findFaults({ ...TRAFFIC, refused })).to.deep.equal([]);
  });

  it('may not be an error of ours, nor a refusal of what callers may do', () => {
    const refused = { '500 internal_error': 2, '402 insufficient_credits': 1, '503 overloaded': 1 };
    expect(findFaults({ ...TRAFFIC, refused })).to.deep.equal([
      '2 answers were 500 internal_error',
      '1 answers were 402 insufficient_credits',
    ]);
  });
});
