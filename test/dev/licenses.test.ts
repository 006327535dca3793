// docs/licenses.md lists what production installs, and no package comes under a licence that asks for much.
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import {
  composeLicensesPage,
  EXCEPTIONS,
  findUnwelcome,
  LICENSES_PAGE,
  readProductionPackages,
} from '../../dev/licenses.ts';

describe('docs/licenses.md', () => {
  const packages = readProductionPackages();

  it('is what `npm run licenses` makes of the lock file', () => {
    expect(readFileSync(LICENSES_PAGE, 'utf8')).to.equal(composeLicensesPage());
  });

  it('has every package of production', () => {
    const manifest: { dependencies: Record<string, string> } = JSON.parse(
      readFileSync('package.json', 'utf8'),
    );
    const page = readFileSync(LICENSES_PAGE, 'utf8');
    for (const [name, version] of Object.entries(manifest.dependencies))
      expect(page).to.contain(`\n- ${name} ${version}\n`);
  });

  it('has no licence that asks for more than a notice, but for the exceptions with a reason', () => {
    const unwelcome = packages.filter((one) => findUnwelcome(one).length > 0);
    expect(unwelcome).to.deep.equal([]);
  });

  it('gives no reason for a package that is gone', () => {
    const unused = EXCEPTIONS.filter(
      ({ packages: names, license }) =>
        !packages.some((one) => names.test(one.name) && one.license?.includes(license)),
    );
    expect(unused).to.deep.equal([]);
  });

  for (const [license, unwelcome] of [
    ['MIT', []],
    ['(MIT OR GPL-3.0)', []],
    ['MIT AND GPL-3.0', ['GPL-3.0']],
    ['LGPL-3.0-or-later', ['LGPL-3.0-or-later']],
    ['SEE LICENSE IN terms.txt', ['SEE LICENSE IN terms.txt']],
    [null, ['none known']],
  ] as const)
    it(`would ${unwelcome.length === 0 ? 'take' : 'refuse'} ${license ?? 'a package without one'}`, () => {
      expect(findUnwelcome({ name: 'new', version: '1.0.0', license })).to.deep.equal(unwelcome);
    });
});
