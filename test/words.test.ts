// One language in the whole repository: words that say little, names that are gone, and the form of comments.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';

const PROJECT = join(import.meta.dirname, '..');
const COMMENT_CHARACTERS_MAX = 110;
/** A comment names who: the caller, the operator, another process. */
const VAGUE_WORDS = /\b(whoever|somebody|nobody|anybody|everybody)\b/i;
/** Names of earlier versions, each with what it is called now. */
const FORMER_NAMES: readonly [former: RegExp, now: string][] = [
  [/\brideTogether\b|\briders\b/, 'batch, waiters'],
  [/\bBill\b/, 'ChatBilling'],
  [/\b(?:interface|type|import type \{) Once\b|: Once\b/, 'IdempotencyContext'],
  [/\b(?:interface|type) Gateway\b|: Gateway\b|<Gateway\b/, 'Services'],
  [/\bwish(?:es)?\b(?=[:,;.)\s]*[:=.,)])/, 'input, params'],
  [/\bTrail\b/, 'RequestTrace'],
  [/\bWhereabouts\b/, 'ResultLocation'],
  [/\bGuesser\b/, 'AttemptedBy'],
  [/\b(?:takeAll|giveBack)\b/, 'consumeAll, refund'],
  [/\b(?:tellTheEnd|endAs)\b/, 'reportFinalStatus, failRun'],
  [/\b(?:untilWritten|beatWhileSilent)\b/, 'retryWrite, sendKeepAlive'],
  [/\b(?:claimForgotten|claimQuiet|failStopped)\b/, 'claimUnstarted, claimMaybeOrphaned, failOrphaned'],
  [/\b(?:refuseOddities|refuseDearer|refusePaid)\b/, 'rejectMalformedRequests, rejectCostlierOptions'],
  [/\b(?:cutLeftover|letBodyEnd|closeUnreadUpload)\b/, 'boundUnreadBodies, drainBody'],
  [/\b(?:connectOrSay|connectingAnew|alsoSay|isSome)\b/, 'connectWithReason, oneShotAgent, onHeartbeat'],
];

interface SourceFile {
  path: string;
  lines: readonly string[];
}

describe('the words of the repository', () => {
  const files = readFiles();
  const sources = files.filter(({ path }) => !path.endsWith('.md'));

  it('are precise in comments: no whoever, somebody, nobody, anybody, everybody', () => {
    expectNone(findLines(sources, (line) => VAGUE_WORDS.test(commentOf(line))));
  });

  it('hold no name of an earlier version', () => {
    for (const [former, now] of FORMER_NAMES)
      expectNone(
        findLines(files, (line) => former.test(line)),
        now,
      );
  });

  it(`stand in comments of at most ${COMMENT_CHARACTERS_MAX} characters a line`, () => {
    const isLong = (line: string): boolean =>
      /^\s*(?:\/\/|\/\*|\*|-- )/.test(line) && line.length > COMMENT_CHARACTERS_MAX;
    expectNone(findLines(sources, isLong));
  });

  it('begin each file with one sentence about it, as a plain comment', () => {
    const isHeader = (line = ''): boolean => /^(?:\/\/|--) \S/.test(line) && !line.startsWith('// oxlint-');
    const without = sources.filter(
      ({ lines }) => !isHeader(lines[0]?.startsWith('#!') ? lines[1] : lines[0]),
    );
    expectNone(without.map(({ path }) => path));
  });
});

function expectNone(found: readonly string[], now?: string): void {
  if (found.length > 0) expect.fail(`${now === undefined ? '' : `now: ${now}\n`}${found.join('\n')}`);
}

/** All files but this one, which names what it forbids. */
function readFiles(): SourceFile[] {
  const exclude = (path: string): boolean => /(?:^|\/)(?:node_modules|\.git|\.data[^/]*)$/.test(path);
  return globSync('**/*.{ts,mjs,sql,md}', { cwd: PROJECT, exclude })
    .filter((path) => path !== 'test/words.test.ts')
    .sort()
    .map((path) => ({ path, lines: readFileSync(join(PROJECT, path), 'utf8').split('\n') }));
}

function findLines(files: readonly SourceFile[], isWrong: (line: string) => boolean): string[] {
  return files.flatMap(({ path, lines }) =>
    lines.flatMap((line, index) => (isWrong(line) ? [`${path}:${index + 1}: ${line.trim()}`] : [])),
  );
}

/** What stands in the line as a comment, whole or after code. */
function commentOf(line: string): string {
  return /^\s*(?:\/\*|\*|\/\/|-- )(.*)|(?:^|[\s;,{(])(?:\/\/|--) (.*)/.exec(line)?.[0] ?? '';
}
