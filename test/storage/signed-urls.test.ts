// Signed URLs: good until they expire, for one path, with any key of the ring.
import { expect } from 'chai';
import { signUrl, verifySignedUrl, type UrlToVerify } from '../../storage/signed-urls.ts';

const path = '/files/results/task_1/1/0.png';
const keys = ['new key', 'old key'];
const expiresAt = new Date('2026-11-21T12:00:00Z');
const before = new Date('2026-11-21T11:59:59.999Z');

function verify(url: string, changes: Partial<UrlToVerify> = {}): string {
  const { searchParams } = new URL(url);
  const [expires, signature] = [searchParams.get('expires'), searchParams.get('signature')];
  return verifySignedUrl({ path, expires, signature, keys, now: before, ...changes });
}

describe('a signed URL', () => {
  const url = signUrl({ publicUrl: 'https://api.example.com/', path, expiresAt, keys });

  it('is the public address with an expiry in Unix seconds and a signature', () => {
    expect(url).to.match(
      /^https:\/\/api\.example\.com\/files\/results\/task_1\/1\/0\.png\?expires=1795262400&signature=[\w-]{43}$/,
    );
  });

  it('keeps the path of a public address that has one', () => {
    const nested = signUrl({ publicUrl: 'https://example.com/gateway', path, expiresAt, keys });
    expect(nested).to.match(/^https:\/\/example\.com\/gateway\/files\//);
    expect(verify(nested)).to.equal('valid');
  });

  it('is valid until the second it expires', () => {
    expect(verify(url)).to.equal('valid');
    expect(verify(url, { now: expiresAt })).to.equal('expired');
  });

  it('stays valid while the key that signed it is in the ring', () => {
    expect(verify(url, { keys: ['newest key', 'new key'] })).to.equal('valid');
    expect(verify(url, { keys: ['old key'] })).to.equal('forged');
    expect(verify(url, { keys: [] })).to.equal('forged');
  });

  it('is made with the newest key', () => {
    expect(verify(url, { keys: ['new key'] })).to.equal('valid');
  });

  const forgeries: Record<string, Partial<UrlToVerify>> = {
    'another path': { path: '/files/results/task_2/1/0.png' },
    'a later expiry': { expires: '1795262401' },
    'an expiry written differently': { expires: '01795262400' },
    'no expiry': { expires: undefined },
    'two expiries': { expires: ['1795262400', '1795262400'] },
    'no number': { expires: '1e99' },
    'no signature': { signature: undefined },
    'an empty signature': { signature: '' },
    'a short signature': { signature: 'abc' },
    'another signature': { signature: 'A'.repeat(43) },
    'two signatures': { signature: ['A'.repeat(43), 'A'.repeat(43)] },
  };
  for (const [title, changes] of Object.entries(forgeries)) {
    it(`is forged with ${title}, before and after the expiry`, () => {
      expect(verify(url, changes)).to.equal('forged');
      expect(verify(url, { ...changes, now: new Date('2030-01-01T00:00:00Z') })).to.equal('forged');
    });
  }

  it('cannot be made without a key', () => {
    expect(() => signUrl({ publicUrl: 'https://example.com', path, expiresAt, keys: [] })).to.throw(
      RangeError,
    );
  });
});
