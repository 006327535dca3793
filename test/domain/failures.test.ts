// The failures of tasks: every class of upstream error leads to a code that has a sentence.
import { expect } from 'chai';
import { failureOf, ownerMayRead, TASK_FAILURES, UPSTREAM_ERROR_CLASSES } from '../../domain/failures.ts';

describe('error classes', () => {
  it('lead to codes that have a sentence', () => {
    for (const errorClass of UPSTREAM_ERROR_CLASSES)
      expect(TASK_FAILURES).to.have.property(failureOf(errorClass));
  });

  it('call an input that cannot be used by its own name, with our words about it', () => {
    expect([failureOf('input_refused'), failureOf('input_unreadable')]).to.deep.equal([
      'url_not_allowed',
      'invalid_image',
    ]);
    expect([ownerMayRead('input_refused'), ownerMayRead('input_unreadable')]).to.deep.equal([true, true]);
  });
});
