// Passwords are hashed a few at a time, and a queue that is too long is refused instead of growing.
import { expect } from 'chai';
import {
  hashPassword,
  PASSWORDS_IN_FLIGHT_MAX,
  TooManyPasswords,
  verifyPassword,
} from '../../../db/identity/passwords.ts';

describe('hashing passwords', () => {
  it('refuses what is too much at once, does the rest, and then takes more', async () => {
    const stored = await hashPassword('correct horse');
    const beyond = 20;
    const outcomes = await Promise.allSettled(
      Array.from({ length: PASSWORDS_IN_FLIGHT_MAX + beyond }, () => verifyPassword('correct horse', stored)),
    );
    const refused = outcomes.filter(({ status }) => status === 'rejected');
    expect(refused).to.have.length(beyond);
    for (const outcome of refused) expect(outcome).to.have.property('reason').instanceOf(TooManyPasswords);
    expect(outcomes.filter((outcome) => outcome.status === 'fulfilled' && outcome.value)).to.have.length(
      PASSWORDS_IN_FLIGHT_MAX,
    );
    expect(await verifyPassword('correct horse', stored)).to.equal(true);
  });
});
