// Echoes: the parts of a prompt that a vendor repeats are removed from its words.
import { expect } from 'chai';
import { withoutEcho } from '../../../domain/masking/echo.ts';

describe('withoutEcho', () => {
  const prompt = 'a portrait of Ada Lovelace at her desk';

  it('removes the whole prompt, whatever its case', () => {
    expect(withoutEcho(`Rejected: "${prompt.toUpperCase()}".`, prompt)).to.equal('Rejected: "[prompt]".');
  });

  it('removes a part of it', () => {
    expect(withoutEcho('The words "of Ada Lovelace at" are not allowed.', prompt)).to.equal(
      'The words "[prompt]" are not allowed.',
    );
  });

  it('keeps ordinary words', () => {
    const text = 'Your request for a portrait was refused.';
    expect(withoutEcho(text, prompt)).to.equal(text);
  });

  it('removes a short prompt where it stands whole', () => {
    expect(withoutEcho('cannot draw swordfish today', 'swordfish')).to.equal('cannot draw [prompt] today');
  });

  it('takes no time on long texts', () => {
    const startedAt = performance.now();
    withoutEcho('x'.repeat(64_000), 'y'.repeat(32_000));
    expect(performance.now() - startedAt).to.be.below(200);
  });
});
