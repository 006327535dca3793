// The page of the rehearsal keeps what a rehearsal of some drills did not run again.
import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { keepSection } from '../../../dev/rehearse/page-text.ts';
import { mergeRows, REHEARSAL_PAGE } from '../../../dev/rehearse/page.ts';

describe('the table of drills', () => {
  const page = readFileSync(REHEARSAL_PAGE, 'utf8');
  const rows = mergeRows(page, []);

  it('keeps every row of a page whose drills did not run', () => {
    expect(rows.length).to.be.above(20);
    for (const row of rows) expect(page).to.contain(row);
  });

  it('replaces the row of a drill that ran, an upgrade from another version too, and adds new ones', () => {
    const ran = ['| kill api | anew |', '| upgrade from 1234567 | anew |', '| invented | new |'];
    const merged = mergeRows(page, ran);
    expect(merged)
      .to.have.length(rows.length + 1)
      .and.to.include.members(ran);
    expect(merged.filter((row) => /^\| (kill api|upgrade)/.test(row))).to.have.length(2);
  });

  it('has those that ran where there was no page', () => {
    expect(mergeRows('', ['| kill api | anew |'])).to.deep.equal(['| kill api | anew |']);
  });
});

describe('a section of the page', () => {
  const page = '# A page\n\n## First\n\none\n\n## Second\n\ntwo\n';

  it('is kept with its head, up to the next one', () => {
    expect(keepSection(page, '## First').join('\n')).to.equal('## First\n\none\n');
    expect(keepSection(page, '## Second').join('\n')).to.equal('## Second\n\ntwo\n');
  });

  it('is nothing where the page has none', () => {
    expect(keepSection(page, '## Third')).to.deep.equal([]);
  });
});
