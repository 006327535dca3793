// The first call with a real key, played against the sandbox: priced, agreed to, sent, written down.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { writeFindings } from '../../dev/probe/main.ts';
import { probeFamily, type Finding } from '../../dev/probe/probe.ts';
import { parseCatalog } from '../../domain/catalog/parse-catalog.ts';
import { startSandbox, type Sandbox } from '../../sandbox/server.ts';
import { FRAME_DATA_URI } from '../support/inputs.ts';
import { readJournal } from '../support/servers/sandbox.ts';
import { PATHS } from '../providers/catalogue/at-the-sandbox.ts';

const models = [...parseCatalog(JSON.parse(readFileSync('catalog.json', 'utf8'))).models.values()];
const VIDEO = 'https://media.example.com/1.mp4';

describe('npm run models -- probe', () => {
  let sandbox: Sandbox;
  before(async () => (sandbox = await startSandbox({ port: 0, host: '127.0.0.1' })));
  after(() => sandbox.close());

  async function probe(family: string, isAgreed = true) {
    const printed: string[] = [];
    const credentials = [{ id: 'default', key: 'sk-test' }];
    const prompt = 'a ball [[sandbox seconds=0 tokens=3]]';
    const asked: string[] = [];
    const findings = await probeFamily({
      family,
      families: { [family]: { baseUrl: `${sandbox.url}${PATHS[family]}`, credentials } },
      models,
      materials: { prompt, image: FRAME_DATA_URI, video: VIDEO },
      print: (line) => printed.push(line),
      confirm: async (question) => {
        asked.push(question);
        return isAgreed;
      },
      pollEveryMs: 5,
      jobLimitMs: 10_000,
    });
    return { findings: findings ?? [], printed, asked };
  }

  const found = (findings: readonly Finding[], subject: RegExp): string | undefined =>
    findings.find((each) => subject.test(each.subject))?.finding;

  it('shows the price first, and sends nothing without a yes', async () => {
    const { findings, printed, asked } = await probe('vidu', false);
    expect(findings).to.deep.equal([]);
    expect(asked).to.have.length(1);
    expect(asked[0]).to.match(/^8 calls to vidu, at most \$0\.\d\d and what is unknown/);
    expect(printed).to.include('viduq3-turbo: 1 s, 540p, with sound, at most $0.035');
    expect(await readJournal(sandbox.url, '')).to.deep.equal([]);
  });

  for (const family of Object.keys(PATHS))
    it(`takes the cheapest order of each model of ${family}, for no more than it said`, async () => {
      const { findings } = await probe(family);
      for (const { id } of models.filter((model) => model.family === family))
        expect(findings.find(({ subject }) => subject === id)?.finding, id).to.match(
          /^taken and delivered for \$[\d.]+(, the vendor bills \$[\d.]+)?$/,
        );
    });

  it('asks what no document proves, and repeats the vendor’s own words', async () => {
    for (const [family, question, answer] of [
      ['seedance', /take a seed/, /^refused \(invalid, HTTP 400\): seed is not supported/],
      ['kling', /last frame/, /^refused \(invalid.*last frame/i],
      ['kling', /multi_shot/, /^refused \(invalid.*multi_shot/],
      ['hailuo', /reference images/, /^refused \(invalid.*references/],
      ['grok', /21:9/, /^yes, taken$/],
      ['gemini', /4K image/, /^yes, taken: \d+ tokens/],
      ['openai', /2\.6-flare/, /^refused \(/],
      ['vidu', /in 2K/, /^refused \(/],
    ] as const) {
      const { findings } = await probe(family);
      expect(found(findings, question), String(question)).to.match(answer);
    }
  });

  it('writes down what it proved', () => {
    const folder = mkdtempSync(join(tmpdir(), 'svc-gateway-probe-'));
    const findings = [{ subject: 'a model', finding: 'refused | here\nand there' }];
    const path = writeFindings(folder, 'grok', findings, new Date('2026-11-22T04:00:00Z'));
    const text = readFileSync(path, 'utf8');
    rmSync(folder, { recursive: true });
    expect(path).to.match(/probes\/grok-2026-11-22T040000\.md$/);
    expect(text).to.contain('| a model | refused \\| here and there |');
  });
});
