// `npm run models -- probe FAMILY [--video URL]`: asks a vendor with the configured key what no document
// proves, and writes down what it answered.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { offerModels, readCatalog } from '../../config/catalog.ts';
import { listedUpstreams, readFamilies, variableOf } from '../../config/families.ts';
import { encodePng } from '../../sandbox/png.ts';
import { probeFamily, type Finding } from './probe.ts';

const PROMPT = 'A red ball rolls over a white floor.';
const PICTURE = { width: 512, height: 512, hue: 0, transparent: false };
const POLL_EVERY_MS = 5_000;
const JOB_LIMIT_MS = 20 * 60_000;
const FOLDER = 'probes';

/** Returns the exit code. `env`: the settings, as the gateway reads them. */
export async function runProbe(args: readonly string[], env: Record<string, string>): Promise<number> {
  const [family] = args;
  const video = args[1] === '--video' ? (args[2] ?? null) : null;
  const problems: string[] = [];
  const paths = {
    catalog: env['SVC_CATALOG'] ?? 'catalog.json',
    overlay: env['SVC_CATALOG_OVERLAY'] ?? null,
  };
  const read = readCatalog(paths, problems);
  const families = readFamilies(env, read ? listedUpstreams(read.catalog) : [], problems);
  if (!family || !families[family])
    problems.push(`name a family that has a key, such as ${variableOf(family ?? 'grok', 'API_KEY')}`);
  if (problems.length > 0 || !read || !family) {
    for (const problem of problems) console.error(problem);
    return 1;
  }
  const { offered, withheld } = offerModels(read.catalog, families, 0);
  for (const { id, reason } of withheld) console.log(`${id} is not offered: ${reason}`);
  const image = `data:image/png;base64,${encodePng(PICTURE).toString('base64')}`;
  const findings = await probeFamily({
    family,
    families,
    models: [...offered.models.values()],
    materials: { prompt: PROMPT, image, video },
    print: (line) => console.log(line),
    confirm: askPerson,
    pollEveryMs: POLL_EVERY_MS,
    jobLimitMs: JOB_LIMIT_MS,
  });
  if (!findings) console.log('Nothing was sent.');
  else
    console.log(`Written to ${writeFindings(env['SVC_DATA_DIR'] || '.data', family, findings, new Date())}`);
  return 0;
}

/** Writes the findings as a table into the data folder and returns the path. */
export function writeFindings(
  dataDir: string,
  family: string,
  findings: readonly Finding[],
  now: Date,
): string {
  const folder = join(dataDir, FOLDER);
  mkdirSync(folder, { recursive: true });
  const path = join(folder, `${family}-${now.toISOString().slice(0, 19).replaceAll(':', '')}.md`);
  const rows = findings.map(({ subject, finding }) => `| ${cell(subject)} | ${cell(finding)} |`);
  const head = [`# ${family}, asked on ${now.toISOString()}`, '', '| asked | answered |', '|---|---|'];
  writeFileSync(path, [...head, ...rows, ''].join('\n'));
  return path;
}

function cell(text: string): string {
  return text.replaceAll(/\s+/g, ' ').replaceAll('|', '\\|');
}

async function askPerson(question: string): Promise<boolean> {
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  const answer = await terminal.question(question);
  terminal.close();
  return answer.trim().toLowerCase() === 'yes';
}
