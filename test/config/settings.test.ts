// Settings: every problem is named at once, and what the declaration says of each stands on the page.
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { ConfigError, loadConfig } from '../../config/config.ts';
import { SETTING_MEANINGS } from '../../config/settings.ts';

const NEEDED = {
  DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none',
  SVC_SECRET_KEYS: `test:${Buffer.alloc(32, 1).toString('base64url')}`,
};

/** The lines of the error, without its first one. */
function problemsOf(env: Record<string, string>): string[] {
  try {
    loadConfig(env);
    return [];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.message.split('\n').slice(1);
  }
}

describe('the settings', () => {
  it('name every problem at once, each with its setting', () => {
    const env = {
      DATABASE_URL: 'mysql://localhost',
      SVC_SECRET_KEYS: 'short:abc',
      SVC_CATALOG: 'nowhere.json',
      SVC_S3_BUCKET: 'results',
      SVC_RATE_LIMIT_REQUIRE_REDIS: '1',
      NODE_ENV: 'production',
      OPENAI_API_KEY: 'sandbox',
      GROK_BASE_URL: 'nowhere',
      VEO_JOBS_PER_CREDENTIAL_MAX: 'many',
    };
    const named = problemsOf(env).map((line) => /^ {2}(\w+)/.exec(line)?.[1]);
    const { NODE_ENV: _, SVC_RATE_LIMIT_REQUIRE_REDIS: __, ...wrong } = env;
    expect(named).to.have.members([...Object.keys(wrong), 'REDIS_URL']);
  });

  it('that are missing are called missing, and what they mean is said', () => {
    const problems = problemsOf({});
    expect(problems).to.have.length(2);
    for (const problem of problems)
      expect(problem)
        .to.match(/^ {2}(DATABASE_URL|SVC_SECRET_KEYS): missing; \S/)
        .and.not.match(/undefined|received/);
    expect(problemsOf({ ...NEEDED, PORT: 'x' })).to.deep.equal(['  PORT: expected a number']);
    expect(problemsOf({ ...NEEDED, PORT: '70000' })).to.deep.equal(['  PORT: expected at most 65535']);
  });

  it('know a key ring by its ids and the length of its keys', () => {
    const key = Buffer.alloc(32, 2).toString('base64url');
    for (const ring of ['', 'no-key', `a:${key},a:${key}`, `a b:${key}`, `a:${key},`])
      expect(problemsOf({ ...NEEDED, SVC_SECRET_KEYS: ring }).join(), ring).to.contain('SVC_SECRET_KEYS');
    const { keyRing } = loadConfig({ ...NEEDED, SVC_SECRET_KEYS: `new:${key}, old:${key}` });
    expect(keyRing.map(({ id }) => id)).to.deep.equal(['new', 'old']);
  });

  it('of a family are its key or keys, its base URL and the jobs of a key', () => {
    const { families } = loadConfig({
      ...NEEDED,
      OPENAI_API_KEY: 'one, two,one',
      OPENAI_BASE_URL: 'https://openai.example/v1/',
      OPENAI_JOBS_PER_CREDENTIAL_MAX: '3',
      GROK_API_KEY: '{"private_key": "a,b"}',
    });
    expect(Object.keys(families)).to.deep.equal(['openai', 'grok']);
    expect(families['openai']).to.include({ baseUrl: 'https://openai.example/v1', jobsPerCredentialMax: 3 });
    expect(families['openai']?.credentials.map(({ key }) => key)).to.deep.equal(['one', 'two']);
    expect(families['grok']?.credentials.map(({ key }) => key)).to.deep.equal(['{"private_key": "a,b"}']);
    expect(families['grok']).not.to.have.property('jobsPerCredentialMax');
  });

  it('mean on docs/settings.md what their declaration says', () => {
    const page = readFileSync('docs/settings.md', 'utf8').replaceAll("'", '’');
    const rows = [...page.matchAll(/^\| `([A-Z0-9_]+)`.*\| (.*) \|$/gm)];
    const told = new Map(rows.map(([, name = '', meaning = '']) => [name, meaning]));
    for (const [name, meaning] of SETTING_MEANINGS) expect(told.get(name), name).to.equal(meaning);
  });
});
