// Writes docs/rehearsal.md: what the rehearsal showed, with figures, and what it could not show.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { describeMachine } from '../machine.ts';
import type { DrillResult } from './drill.ts';
import type { Engine } from './engine.ts';
import type { ImageOrigin } from './images.ts';
import type { ImageSize, MemoryUse } from './measure.ts';
import { keepSection, timeOf, wrap } from './page-text.ts';
import { describeSoak } from './soak-section.ts';
import type { Soaked } from './soak.ts';
import type { Rates, Throughput } from './throughput.ts';

export const REHEARSAL_PAGE = 'docs/rehearsal.md';

export interface Facts {
  startedAt: Date;
  loadBefore: number;
  /** What the image was built from. */
  commit: string;
  command: string;
  engine: Engine;
  origins: readonly ImageOrigin[];
  proven: readonly string[];
  asked: ReadonlySet<string>;
  missed: readonly string[];
  watched: string;
  image: ImageSize;
  memory: readonly MemoryUse[];
  /** Null where it was not measured. */
  throughput: Throughput | null;
  /** Null where none was played. */
  soaked: Soaked | null;
  drills: readonly DrillResult[];
}

const DRILL_HEAD =
  '| drill | what was done | requests | refused | slowest | given up | tasks | healthy | settled | result | ran |';
const THROUGHPUT_HEAD = '## One of each, and two';
const BYTES_PER_MB = 1_000_000;
const ABOUT = `# The rehearsal

\`npm run rehearse\` builds the image, runs \`docker-compose.yml\` as it is, and adds what stands around it in production:
a second API and a second worker, a proxy that terminates TLS (nginx), a bucket that speaks S3 (versitygw), Prometheus
with the alert rules, and the sandbox behind TLS in the place of the vendors. Then it makes the first administrator by
the command of [operation](operation.md#production), asks every route once through the proxy, and disturbs one container
after the other while work goes on. It exchanges certificates and the secret key, sets two clocks apart, restores a
backup, recovers from archived WAL, fails over to a standby, and replaces an older version by today's under load: the
newest commit that differs in migrations, workflows and catalogue, or the one in \`REHEARSE_FROM\`. It writes this page,
and takes everything down again; \`-- --keep\` leaves it running, \`-- --no-drills\` leaves the drills out, \`-- --measure\`
measures throughput in their place, \`-- --soak\` plays [a soak](#the-soak) in their place, set by the variables of \`npm
run soak\`, and \`REHEARSE_DRILLS='kill (api|redis)'\` runs those whose names match. With \`-- --temporal-apart\` Temporal
runs as four services, and the drills are those of these four.

It needs Docker with Compose, OpenSSL, for one drill Debian's libfaketime, and half an hour on two cores. Images that
cannot be pulled are made here under the same names, once, from Debian (\`debootstrap\`, as root;
\`REHEARSE_DEBIAN_MIRROR\` names another mirror) and with Go, and carry the label \`svc-gateway.stand-in\`. To remove them:

\`\`\`sh
docker image rm $(docker images --quiet --filter label=svc-gateway.stand-in)
\`\`\`
`;

/** Writes the page and returns what it shows, for the terminal. */
export function writePage(facts: Facts): string {
  const shown = [
    ...describeRun(facts),
    ...describeOpen(facts),
    ...describeThroughput(facts),
    ...describeSoak(facts, readEarlier()),
    ...describeDrills(facts),
  ].join('\n');
  writeFileSync(REHEARSAL_PAGE, `${ABOUT}\n${shown}\n`);
  return shown;
}

function describeRun(facts: Facts): string[] {
  const { startedAt, loadBefore, commit, command, engine, proven, asked, watched, image, memory } = facts;
  const [own, whole] = [image.ownBytes, image.wholeBytes].map((bytes) => Math.round(bytes / BYTES_PER_MB));
  return [
    '## What the last one showed',
    '',
    ...wrap(
      `\`${command}\`, ${timeOf(startedAt)} to ${timeOf(new Date())} UTC, ` +
        `commit ${commit}, ${engine.description}.`,
    ),
    ...wrap(`${describeMachine(loadBefore)}.`),
    '',
    ...wrap(
      `- Every container of \`docker-compose.yml\` started in its order and became healthy, the gateway's own ` +
        `with read-only roots and without capabilities; the migrations ran as the owner, the processes as \`svc_app\`.`,
    ),
    ...wrap(
      `- ${asked.size} routes were answered through the proxy, each as the API's description promises.`,
    ),
    ...proven.flatMap((sentence) => wrap(`- ${sentence}`)),
    ...wrap(`- ${watched}`),
    ...wrap(`- The gateway's image adds ${own} MB to that of Node, ${whole} MB altogether.`),
    '',
    'Memory after the walk:',
    '',
    '| container | used | limit |',
    '|---|---|---|',
    ...memory.map(({ container, used, limit }) => `| \`${container}\` | ${used} | ${limit} |`),
    '',
  ];
}

function describeOpen({ origins }: Facts): string[] {
  const standIns = origins.filter(({ standIn }) => standIn !== null);
  if (standIns.length === 0) return [];
  return [
    '## What only the official images can tell',
    '',
    'These could not be pulled where it ran. Their entrypoints, users, paths and versions are the part it did not show:',
    '',
    ...standIns.flatMap(({ image, standIn }) => wrap(`- \`${image}\`: ${standIn}`)),
    '',
  ];
}

/** Of this rehearsal, or of the last one that measured it. */
function describeThroughput({ throughput, commit, startedAt, loadBefore }: Facts): string[] {
  if (throughput === null) return keepSection(readEarlier(), THROUGHPUT_HEAD);
  const { one, two, rounds, concurrency, refused } = throughput;
  const row = (what: string, name: keyof Rates, goal: string): string =>
    `| ${what} | ${one[name].toFixed(1)} | ${two[name].toFixed(1)} | ${ratio(two[name], one[name])} | ${goal} |`;
  return [
    THROUGHPUT_HEAD,
    '',
    ...wrap(
      `\`npm run rehearse -- --measure\`, ${timeOf(startedAt)} UTC, commit ${commit}, ${describeMachine(loadBefore)}. ` +
        `${concurrency} at a time through the proxy, an image with \`Prefer: wait\` until it is charged; the middle one ` +
        `of ${rounds} alternating rounds. All containers, and their caller, share the machine. Refused, and repeated: ${refused}.`,
    ),
    '',
    '| per second | one API, one worker | two of each | ratio | goal |',
    '|---|---|---|---|---|',
    row('chats', 'chats', 'at least 1'),
    row('images to their charged result', 'tasks', 'at least 1'),
    row('the floor: bare workflows of five empty activities on the same Temporal', 'bare', '–'),
    `| images as a multiple of the floor | ${ratio(one.tasks, one.bare)} | ${ratio(two.tasks, two.bare)} | – | at least 1.3 |`,
    '',
    ...wrap(
      throughput.problems.length === 0
        ? 'Exact: orders, tasks, completed and charged ones are the same number, so are chats, and the ledger adds up.'
        : `**${throughput.problems.join('; ')}**`,
    ),
    '',
  ];
}

function ratio(value: number, floor: number): string {
  return (value / floor).toFixed(2);
}

function readEarlier(): string {
  return existsSync(REHEARSAL_PAGE) ? readFileSync(REHEARSAL_PAGE, 'utf8') : '';
}

function describeDrills(facts: Facts): string[] {
  return [
    '## Drills',
    '',
    ...wrap(
      'About three orders a second (chats, streams, images, videos) while a container is disturbed; an order without ' +
        'a success is repeated with its `Idempotency-Key`, for a minute at most. Refused are answers other than a ' +
        'success; slowest is the order that waited longest for its own, repeats included. Healthy: seconds after the ' +
        'disturbance until all containers are. Settled: seconds after the traffic until no task is open, then until ' +
        'no chat call is: one whose process died is settled when its lease of 120 s is over.',
    ),
    '',
    ...wrap(
      'Exact means: each order became one task and none is lost, charges are as many as completed tasks, no answer ' +
        'was a fault of the gateway, and `npm run db -- check` found no violation over all money. Tasks accepted ' +
        'after a backup or the moment of a recovery, or not replicated when the primary died, are lost and counted in their row; chats of those ' +
        'moments were answered and are not charged. A drill that the last rehearsal ' +
        'left out keeps the row of its own last run.',
    ),
    '',
    DRILL_HEAD,
    DRILL_HEAD.replaceAll(/[^|]+/g, '---'),
    ...mergeRows(
      readEarlier(),
      facts.drills.map((drill) => describeDrill(drill, facts)),
    ),
  ];
}

/**
 * The rows of the drills that ran now, and those of an earlier page whose drills did not: each tells the
 * commit and the day of its own run.
 */
export function mergeRows(page: string, rows: readonly string[]): string[] {
  const [, table = ''] = page.split(`${DRILL_HEAD}\n`);
  const earlier = table.split('\n').filter((line) => line.startsWith('| '));
  const all = [...earlier, ...rows].map((row) => [drillOf(row), row] as const);
  return [...new Map(all).values()];
}

/** The drill of a row; an upgrade is one drill, whichever version it began with. */
function drillOf(row: string): string {
  const [, name = ''] = row.split(' | ')[0]?.split('| ') ?? [];
  return name.replace(/ from .*/, '');
}

function describeDrill(drill: DrillResult, { commit, startedAt }: Facts): string {
  const { name, about, requests, refused, ended, givenUp, problems } = drill;
  const { slowestSeconds, healthySeconds, tasksSeconds, callsSeconds } = drill;
  const seconds = (value: number): string => `${value.toFixed(1)} s`;
  const cells = [
    ...[name, about, String(requests), list(refused), seconds(slowestSeconds)],
    ...[list({ task: givenUp.tasks, chat: givenUp.chats }), list(ended)],
    ...[seconds(healthySeconds), `${seconds(tasksSeconds)}, ${seconds(callsSeconds)}`],
    problems.length === 0 ? 'exact' : `**${withoutIds(problems.join('; ')).replaceAll(/\s+/g, ' ')}**`,
    `${commit}, ${timeOf(startedAt).slice(0, 10)}`,
  ];
  return `| ${cells.join(' | ')} |`;
}

/** Ids of one run say nothing on a page: a route keeps the name of its parameter. */
function withoutIds(text: string): string {
  return text.replaceAll(/\b[a-z]+_[0-9A-HJKMNP-TV-Z]{26}\b/g, ':id');
}

function list(counts: Readonly<Record<string, number>>): string {
  const some = Object.entries(counts).filter(([, count]) => count > 0);
  return some.map(([what, count]) => `${count} × ${what}`).join(', ') || '–';
}
