// The clients in examples/ run against a gateway as they stand there: chat, an image ordered and awaited,
// balance.
import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { startGateway, type TestGateway, type TestUser } from './support/servers/gateway.ts';

const run = promisify(execFile);

const FOLDER = join(import.meta.dirname, '../examples');
const EXAMPLE_LIMIT_MS = 30_000;
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

  it('are all run here', () => {
    // `catalog` holds catalogues, which test/api/v1/own-models.test.ts tries.
    const programs = readdirSync(FOLDER).filter((name) => name !== 'catalog');
    expect(programs).to.have.members(PROGRAMS.map(([file]) => file));
  });

  for (const [file, command, needed] of PROGRAMS)
    it(`${file} chats, orders an image, waits for it and reads the balance`, async function () {
      if (!(await isInstalled(needed))) this.skip();
      const { stdout } = await run(command, [join(FOLDER, file)], {
        timeout: EXAMPLE_LIMIT_MS,
        env: {
          ...process.env,
          SVC_BASE_URL: gateway.baseUrl,
          SVC_API_KEY: owner.apiKey,
          NO_PROXY: '127.0.0.1',
        },
      });
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
    }).timeout(EXAMPLE_LIMIT_MS);
});

async function isInstalled(command: string): Promise<boolean> {
  return run(command, ['--version']).then(
    () => true,
    () => false,
  );
}
