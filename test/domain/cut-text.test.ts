// A text that is cut stays well-formed.
import { expect } from 'chai';
import { cutText } from '../../domain/cut-text.ts';

describe('a text that is cut', () => {
  it('keeps its characters whole', () => {
    for (let length = 0; length <= 12; length += 1) {
      const cut = cutText('ab😀😀cd😀', length);
      expect(cut.isWellFormed(), String(length)).to.equal(true);
      expect(cut.length).to.be.within(Math.min(length, 10) - 1, length);
    }
  });

  it('is as it was when it is short', () => {
    expect(cutText('😀', 2)).to.equal('😀');
  });
});
