// The clients in examples/ run against a gateway as they stand there: chat, an image ordered and awaited,
// balance.
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { startGateway, type TestGateway, type TestUser } from './support/servers/gateway.ts';

const run = promisify(execFile);

const FOLDER = join(import.meta.dirname, '../examples');
const EXAMPLE_LIMIT_MS = 90_000;
const AGENT = 'agent.ts';
/** What runs each of them, and what that program is asked for to see whether it is there. */
const PROGRAMS: readonly [file: string, command: string, needed: string][] = [
  ['gateway.sh', 'sh', 'curl'],
  ['client.ts', process.execPath, process.execPath],
  ['client.py', 'python3', 'python3'],
];

describe('the examples', () => {
  let gateway: TestGateway;
  let owner: TestUser;

  before(async () => {
    gateway = await startGateway();
  });
  beforeEach(async () => {
    owner = await gateway.createUser(100);
  });
  afterEach(() => gateway.expectSoundMoney());
  after(() => gateway.stop());

  const runExample = async (command: string, file: string, ...words: string[]): Promise<string> => {
    const { stdout } = await run(command, [join(FOLDER, file), ...words], {
      timeout: EXAMPLE_LIMIT_MS,
      env: {
        ...process.env,
        SVC_BASE_URL: gateway.baseUrl,
        SVC_API_KEY: owner.apiKey,
        NO_PROXY: '127.0.0.1',
      },
    });
    return stdout;
  };

  it('are all run here', () => {
    // `catalog` holds catalogues, which test/api/v1/own-models.test.ts tries.
    const programs = readdirSync(FOLDER).filter((name) => name !== 'catalog');
    expect(programs).to.have.members([...PROGRAMS.map(([file]) => file), AGENT]);
  });

  for (const [file, command, needed] of PROGRAMS)
    it(`${file} chats, orders an image, waits for it and reads the balance`, async function () {
      if (!(await isInstalled(needed))) this.skip();
      const stdout = await runExample(command, file);
      const [chat, image = '', balance] = stdout.trim().split('\n');
      expect(chat).to.match(/^chat: \w/);
      expect(image).to.match(/^image: http/);
      expect(balance).to.match(/^balance: .*9\d\.\d+/);

      const link = await fetch(image.slice('image: '.length));
      expect(link.headers.get('content-type')).to.match(/^image\//);
      expect((await link.arrayBuffer()).byteLength).to.be.greaterThan(100);
      const { body } = await owner.key.get('/v1/balance?includeLedger=1');
      expect(body.data.ledger.map(({ type }: { type: string }) => type)).to.have.members([
        'charge',
        'charge',
        'grant',
      ]);
    });

  for (const [file, command, needed] of [...PROGRAMS, [AGENT, process.execPath, process.execPath] as const])
    it(`${file} names the setting that it has no key in`, async function () {
      if (!(await isInstalled(needed))) this.skip();
      const env = { PATH: process.env['PATH'] };
      const failure: unknown = await run(command, [join(FOLDER, file)], { env }).catch(
        (error: unknown) => error,
      );
      expect(String(failure)).to.include('set it to your API key; npm start prints one');
    });

  it('agent.ts picks a model within its budget, makes the video and keeps it', async () => {
    const stdout = await runExample(process.execPath, AGENT, 'waves [[sandbox seconds=0]]', '45');
    const [, model, credits] = /^picked: (\S+), at most ([\d.]+) credits$/m.exec(stdout) ?? [];
    expect(Number(credits)).to.be.above(0).and.at.most(45);
    const path = /^video: (.*)$/m.exec(stdout)?.[1] ?? '';
    expect(readFileSync(path).subarray(4, 8).toString()).to.equal('ftyp');
    rmSync(path);
    const [task] = (await owner.session.get('/api/tasks?limit=1')).body.data;
    expect(task).to.include({ model, status: 'completed' });
    expect(task.creditsCharged).to.be.at.most(Number(credits));
  });

  it('agent.ts orders nothing where no model is within its budget', async () => {
    const failure: unknown = await runExample(process.execPath, AGENT, 'waves', '1').catch(
      (error: unknown) => error,
    );
    expect(String(failure)).to.match(/no model makes 4 seconds for 1 credits/);
    expect((await owner.session.get('/api/tasks')).body.data).to.deep.equal([]);
  });
});

async function isInstalled(command: string): Promise<boolean> {
  return run(command, ['--version']).then(
    () => true,
    () => false,
  );
}
