// The mark of a user in chat requests: vendors tell users apart, and learn of none who they are.
import { expect } from 'chai';
import { markUser } from '../../../providers/chat/user-marks.ts';

const BODY = { messages: [], temperature: 1 };
const USER = 'usr_01JD000000000000000000000A';
const OTHER = 'usr_01JD000000000000000000000B';

describe('the mark of a user', () => {
  it('is sent to the family that knows a field for it, and to no other', () => {
    const { safety_identifier: mark, ...rest } = markUser(BODY, 'openai', USER);
    expect(rest).to.deep.equal(BODY);
    expect(mark).to.match(/^[\w-]{31}$/);
    expect(markUser(BODY, 'grok', USER)).to.deep.equal(BODY);
  });

  it('stays the same for a user, and differs between users', () => {
    expect(markUser(BODY, 'openai', USER)).to.deep.equal(markUser(BODY, 'openai', USER));
    expect(markUser(BODY, 'openai', USER)).not.to.deep.equal(markUser(BODY, 'openai', OTHER));
  });

  it('keeps what callers choose apart from what other callers choose, within 64 characters', () => {
    for (const name of ['safety_identifier', 'user', 'prompt_cache_key']) {
      const body = { ...BODY, [name]: 'the same' };
      const [one, other] = [USER, OTHER].map((user) => markUser(body, 'mistral', user)[name]);
      expect(one, name).not.to.equal(other);
      expect(one).to.equal(markUser(body, 'mistral', USER)[name]);
      expect(one).not.to.equal(markUser({ ...BODY, [name]: 'another' }, 'mistral', USER)[name]);
      expect(one).to.be.a('string').and.to.have.length.at.most(64);
    }
  });

  it('leaves a wrong value to the vendor, which refuses it', () => {
    expect(markUser({ ...BODY, user: 7 }, 'openai', USER)).to.include({ user: 7 });
  });
});
