// The linter's rules. Most of the file is ARROWS: which folder may import from which.
import { defineConfig } from 'oxlint';

/** The folders that run in production, and `log.ts`, as the first part of a path from the project's root. */
const ROOMS = [
  ...['domain', 'db', 'providers', 'storage', 'workflows', 'activities', 'worker', 'api'],
  ...['config', 'runtime', 'cli', 'log'],
];
/** No product file imports these. */
const OUTSIDE = ['sandbox', 'dev', 'bench', 'test', 'examples', 'console/(?:app|build|data|pages|texts|ui)'];
const VENDORS = ['google', 'grok', 'hailuo', 'kling', 'openai', 'seedance', 'vidu', 'wan'];
const DB_SUBJECTS = [
  'chat',
  'identity',
  'keys',
  'ledger',
  'redeem',
  'retention',
  'tasks',
  'usage',
  'webhooks',
];

type Pattern = {
  regex: string;
  message: string;
  allowTypeImports?: boolean;
};

/** Each folder with the folders it may import from; its own files are always allowed. */
const ARROWS: Readonly<Record<string, readonly string[]>> = {
  domain: [],
  db: ['domain', 'log'],
  providers: ['domain'],
  storage: ['domain'],
  workflows: ['domain'],
  activities: ['domain', 'db', 'providers', 'storage', 'log'],
  worker: ['domain', 'db', 'providers', 'storage', 'workflows', 'activities', 'config', 'runtime', 'log'],
  api: ['domain', 'db', 'providers', 'storage', 'workflows', 'config', 'runtime', 'log'],
  config: ['domain'],
  runtime: ['domain', 'log'],
  cli: ['domain', 'db', 'storage', 'workflows', 'activities', 'config', 'log'],
  sandbox: [],
  console: ['api'],
};

/** A module of Node or a package, instead of a file of this project. */
const NO_PACKAGE = '^[a-z@#]';

/** What a folder has to observe beyond its arrows. */
const FURTHER: Readonly<Record<string, readonly Pattern[]>> = {
  domain: [{ regex: NO_PACKAGE, message: 'domain/ imports no package and nothing of Node.' }],
  console: [
    {
      regex: '^(\\.\\./)+api/([^o]|ope[^n]|open[^a]|openapi/[^r])',
      message: 'console/ knows of api/ the types of its routes only.',
    },
    {
      regex: '^(\\.\\./)+api/openapi/route-types',
      message: 'console/ imports the types of routes, and nothing that runs.',
      allowTypeImports: true,
    },
  ],
  workflows: [{ regex: '^node:', message: 'Workflows run in a sandbox without Node.' }],
  cli: [
    {
      regex: '^(\\.\\./)+workflows/(?:[^c]|c[^l])',
      message: 'cli/ talks to Temporal through workflows/client.ts only.',
    },
  ],
  api: [
    {
      regex: '^(\\.\\./)+workflows/(?:[^c]|c[^l])',
      message: 'api/ talks to Temporal through workflows/client.ts only.',
    },
    {
      regex: '^(\\.\\./)+providers/(?:[^c]|c[^h])',
      message: 'api/ calls vendors for chat only: providers/chat/.',
    },
  ],
};

export default defineConfig({
  plugins: ['typescript', 'unicorn', 'oxc', 'import', 'promise', 'node'],
  categories: { correctness: 'error', suspicious: 'error' },
  rules: {
    'typescript/no-explicit-any': 'error',
    'typescript/no-non-null-assertion': 'error',
    'typescript/no-floating-promises': 'error',
    'typescript/no-misused-promises': ['error', { checksVoidReturn: false }],
    'typescript/consistent-type-imports': 'error',
    'typescript/no-unsafe-type-assertion': 'off',
    'typescript/consistent-return': 'off',
    'typescript/unbound-method': 'off',
    'typescript/no-misused-spread': 'off',
    'import/no-named-as-default-member': 'off',
    'promise/no-callback-in-promise': 'off',
    'eslint/no-unmodified-loop-condition': 'off',
    'import/no-cycle': ['error', { ignoreTypes: false }],
    'import/no-unassigned-import': 'off',
    'node/no-process-env': 'error',
    'eslint/max-lines': ['error', { max: 250, skipBlankLines: false }],
    'eslint/max-lines-per-function': ['error', { max: 60 }],
    'eslint/no-console': 'error',
    'eslint/no-shadow': 'off',
    'eslint/no-await-in-loop': 'off',
    'eslint/no-underscore-dangle': 'off',
    'eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
    'promise/always-return': 'off',
    'unicorn/no-array-reverse': 'off',
    'unicorn/no-array-sort': 'off',
    'unicorn/no-useless-spread': 'off',
    'unicorn/consistent-function-scoping': 'off',
  },
  ignorePatterns: ['node_modules', '.data*', 'console/dist'],
  overrides: [
    ...Object.keys(ARROWS).map((room) => restrict(`${room}/**`, patternsOf(room))),
    ...VENDORS.map((vendor) =>
      restrict(`providers/${vendor}/**`, [
        ...patternsOf('providers'),
        noSibling('providers', vendor, VENDORS),
      ]),
    ),
    ...VENDORS.map((vendor) =>
      restrict(`sandbox/${vendor}/**`, [...patternsOf('sandbox'), noSibling('sandbox', vendor, VENDORS)]),
    ),
    ...DB_SUBJECTS.map((subject) =>
      restrict(`db/${subject}/**`, [
        ...patternsOf('db'),
        noSibling(
          'db',
          subject,
          DB_SUBJECTS.filter((other) => other !== 'ledger'),
        ),
      ]),
    ),
    restrict('domain/catalog/**', [
      ...patternsOf('domain').filter(({ regex }) => regex !== NO_PACKAGE),
      {
        regex: '^([a-y@#]|z[^o]|zo[^d]|zod.)',
        message: 'domain/catalog/ imports zod, and nothing else from outside.',
      },
    ]),
    restrict('api/shapes/**', [
      ...patternsOf('api'),
      { regex: '^\\.\\./(?:[^.]|\\.\\./[^d]|\\.\\./d[^o])', message: 'api/shapes/ imports domain/ only.' },
    ]),
    ...[
      'account',
      'admin',
      'chat',
      'console',
      'docs',
      'events',
      'http',
      'limits',
      'middleware',
      'monitoring',
      'tasks',
    ]
      .concat('responses', 'uploads', 'v1', 'web', 'webhooks')
      .map((folder) =>
        restrict(`api/${folder}/**`, [
          ...patternsOf('api'),
          { regex: '^(\\.\\./)+openapi/', message: 'Only api/app.ts imports api/openapi/.' },
        ]),
      ),
    {
      files: ['workflows/**'],
      rules: {
        'eslint/no-restricted-imports': [
          'error',
          {
            patterns: [
              ...patternsOf('workflows').map((pattern) => ({
                ...pattern,
                regex: pattern.regex.replace('|activities', ''),
              })),
              {
                regex: '^(\\.\\./)+activities/',
                message: 'workflows/ may import activities as types only.',
                allowTypeImports: true,
              },
            ],
          },
        ],
      },
    },
    {
      files: ['config/**', 'dev/**/*.ts', 'dev/*.mjs', 'sandbox/**', 'test/**', 'bench/**', 'examples/**'],
      rules: { 'node/no-process-env': 'off', 'eslint/no-console': 'off' },
    },
    ...['data', 'ui', 'texts'].map((folder) =>
      restrict(`console/${folder}/**`, [
        ...patternsOf('console'),
        {
          regex: folder === 'ui' ? '^\\.\\./(app|pages)/' : '^\\.\\./(app|pages|ui)/',
          message: 'In console/, pages and app import ui, ui imports data, and never the other way.',
        },
      ]),
    ),
    // Markup is long without being difficult.
    { files: ['console/**/*.tsx'], rules: { 'eslint/max-lines-per-function': ['error', { max: 80 }] } },
    {
      files: ['test/**'],
      rules: {
        'typescript/no-unused-expressions': 'off',
        'eslint/no-unused-expressions': 'off',
        'eslint/max-lines-per-function': 'off',
      },
    },
  ],
});

function restrict(files: string, patterns: readonly Pattern[]) {
  return {
    files: [files],
    rules: {
      'eslint/no-restricted-imports': ['error', { patterns }] as ['error', { patterns: readonly Pattern[] }],
    },
  };
}

function patternsOf(room: string): Pattern[] {
  const allowed = ARROWS[room] ?? [];
  const forbidden = [...ROOMS, ...OUTSIDE].filter((other) => other !== room && !allowed.includes(other));
  const message =
    allowed.length === 0
      ? `${room}/ imports nothing but its own files.`
      : `${room}/ may import ${allowed.join(', ')} only.`;
  return [{ regex: `^(\\.\\./)+(${forbidden.join('|')})\\b`, message }, ...(FURTHER[room] ?? [])];
}

function noSibling(room: string, own: string, all: readonly string[]): Pattern {
  const others = all.filter((other) => other !== own);
  return {
    regex: `^\\.\\./(${others.join('|')})/`,
    message: `${room}/${own}/ imports no other folder of ${room}/ that stands beside it.`,
  };
}
