// What refused chat calls mean where the status does not tell: wrong keys, empty accounts, flagged prompts.
import { expect } from 'chai';
import { refineChatFailure } from '../../../providers/chat/refinement.ts';

describe('a refused chat call', () => {
  const about = (status: number, message: string, code: string | null = null) => {
    const verdict = refineChatFailure({ code, type: null, message }, status);
    return verdict && `${verdict.errorClass}, ${verdict.fate}`;
  };

  for (const message of [
    'API key not valid. Please pass a valid API key.',
    'API key expired. Please renew the API key.',
    'API Key not found. Please pass a valid API key.',
    'Incorrect API key provided: xa***12. You can obtain an API key from https://console.x.ai.',
    'Invalid API key',
  ])
    it(`with 400 is about our key, and not the caller’s mistake: ${message.slice(0, 20)}`, () => {
      expect(about(400, message)).to.equal('auth, not_received');
    });

  it('is not about our key where it repeats such words of the caller', () => {
    for (const message of [
      "Invalid value: 'API key not valid'.",
      'The key in "x": Incorrect API key provided',
    ])
      expect(about(400, message)).to.equal(undefined);
  });

  it('is known by its code', () => {
    expect(about(400, 'no', 'content_filter')).to.equal('moderation, refused');
    expect(about(429, 'no', 'insufficient_quota')).to.equal('quota, not_received');
    expect(about(400, 'no', 'model_not_found')).to.equal('model_retired, refused');
  });
});
