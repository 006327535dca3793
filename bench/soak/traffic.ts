// Plays what users do during a soak: stories, drawn by weight, from a request to its result.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Person } from './accounts.ts';
import { textIn, type Answer, type SoakCaller } from './caller.ts';
import type { Chance } from './random.ts';

/** What came of the orders; they are made with sessions, without a key. */
export interface Ordered {
  /** Ids of the tasks that were answered with 202. */
  accepted: Set<string>;
  /** Orders that were answered with 202, each at its first sending or when it was repeated. */
  answered: number;
  /** Orders whose outcome their caller does not know: they became one task, or none. */
  unsure: number;
}

export interface Traffic {
  /** Plays one story to its end. */
  play(): Promise<void>;
  ordered: Ordered;
  played: Map<string, number>;
}

interface Scene {
  caller: SoakCaller;
  chance: Chance;
  person: Person;
  administrator: Person;
  ordered: Ordered;
}

interface Story {
  name: string;
  weight: number;
  play(scene: Scene): Promise<unknown>;
}

/** How often an order is sent at most, and the answers other than errors of the server that repeat it. */
const SENT_MAX = 10;
const AGAIN = [409, 429];
const REPEAT_MS = 1_000;
const CHAT_MODEL = 'gpt-6-luna';
const IMAGE = { model: 'gpt-image-2' };
const VIDEO = { model: 'grok-imagine-video', duration: 1, resolution: '480p' };

export function createTraffic(
  caller: SoakCaller,
  chance: Chance,
  people: { callers: readonly Person[]; administrator: Person },
): Traffic {
  const ordered: Ordered = { accepted: new Set(), answered: 0, unsure: 0 };
  const played = new Map<string, number>();
  return {
    ordered,
    played,
    play: async () => {
      const story = chance.pick(STORIES);
      const person = people.callers[chance.between(0, people.callers.length - 1)];
      if (!person) throw new Error('there is no account for this story');
      const { administrator } = people;
      await story.play({ caller, chance: chance.split(), person, administrator, ordered });
      played.set(story.name, (played.get(story.name) ?? 0) + 1);
    },
  };
}

const STORIES: readonly Story[] = [
  {
    name: 'chat, whole',
    weight: 20,
    play: (scene) => chat(scene, `tokens=${scene.chance.between(1, 30)} delay=0`),
  },
  { name: 'chat, streamed', weight: 12, play: (scene) => chat(scene, 'tokens=20 delay=2', true) },
  {
    name: 'chat, and leaves',
    weight: 4,
    play: (scene) => chat(scene, 'tokens=100 delay=5', true, scene.chance.between(1, 300)),
  },
  {
    name: 'chat, vendor in trouble',
    weight: 4,
    play: (scene) => chat(scene, misfortune(scene, CHAT_MISFORTUNES), scene.chance.next() < 0.5),
  },
  { name: 'image', weight: 8, play: (scene) => task(scene, 'image', 'seconds=0') },
  { name: 'video', weight: 5, play: (scene) => task(scene, 'video', 'seconds=0.2') },
  {
    name: 'task, vendor in trouble',
    weight: 5,
    play: (scene) =>
      task(scene, scene.chance.next() < 0.5 ? 'image' : 'video', misfortune(scene, TASK_MISFORTUNES)),
  },
  { name: 'task, cancelled', weight: 3, play: cancelTask },
  { name: 'task, retried', weight: 3, play: retryTask },
  { name: 'image on /v1, and leaves', weight: 2, play: leaveImage },
  {
    name: 'estimate',
    weight: 4,
    play: ({ caller, person }) =>
      caller.send(person.key, 'POST', '/v1/estimates', { mode: 'image', ...IMAGE, prompt: 'a cat' }),
  },
  {
    name: 'balance',
    weight: 6,
    play: ({ caller, person }) => caller.send(person.key, 'GET', '/v1/balance?includeLedger=1'),
  },
  { name: 'models', weight: 4, play: ({ caller, person }) => caller.send(person.key, 'GET', '/v1/models') },
  { name: 'lists', weight: 4, play: readLists },
  { name: 'bad input', weight: 6, play: badInput },
  { name: 'keys', weight: 2, play: useKeys },
  { name: 'redeem code', weight: 2, play: useRedeemCode },
  {
    name: 'administrator reads',
    weight: 1,
    play: ({ caller, administrator }) =>
      caller.send(administrator.session, 'GET', '/api/admin/tasks?limit=50'),
  },
];

const CHAT_MISFORTUNES = [
  'submit=429*1',
  'submit=500',
  'submit=503*1',
  'submit=reset',
  'submit=html',
  'die_after=3',
  'error_after=2',
  'usage=missing',
  'usage=huge',
  'outcome=moderated',
];
const TASK_MISFORTUNES = [
  'outcome=fail text=leaky',
  'outcome=moderated',
  'submit=429*1',
  'submit=500',
  'submit=accept_then_reset',
  'result=404*1',
  'usage=missing',
  'seconds=0 submit=reset*1',
];
const BAD_BODIES = [
  {},
  { model: 5 },
  { model: CHAT_MODEL },
  { model: CHAT_MODEL, messages: [] },
  { model: 'none', messages: [{ role: 'user', content: 'x' }] },
  { prompt: ['x'] },
  { messages: 'x'.repeat(20_000) },
];

function misfortune({ chance }: Scene, misfortunes: readonly string[]): string {
  return misfortunes[chance.between(0, misfortunes.length - 1)] ?? '';
}

function chat({ caller, person }: Scene, directive: string, stream = false, leaveAfterMs?: number) {
  const messages = [{ role: 'user', content: `Say something. [[sandbox ${directive}]]` }];
  const body = { model: CHAT_MODEL, messages, max_tokens: 200, stream };
  return caller.send(person.key, 'POST', '/v1/chat/completions', body, leaveAfterMs);
}

/** Orders a task. What has no answer, or finds the gateway in trouble, is repeated with its key. */
async function order(scene: Scene, mode: 'image' | 'video', directive: string): Promise<string | null> {
  const { caller, person, chance, ordered } = scene;
  // A unique prompt, because the sandbox counts `*1` by the prompt.
  const number = chance.between(0, 2 ** 31);
  const prompt = `number ${number} [[sandbox ${directive}]]`;
  const headers = { ...person.session, 'idempotency-key': `soak-${number}-${chance.between(0, 2 ** 31)}` };
  const body = { mode, prompt, ...(mode === 'image' ? IMAGE : VIDEO) };
  let isSure = true;
  for (let sent = 0; sent < SENT_MAX; sent += 1) {
    if (sent > 0) await sleep(REPEAT_MS);
    const answer = await caller.send(headers, 'POST', '/api/tasks', body);
    const id = answer?.status === 202 ? textIn(answer, 'id') : null;
    if (id !== null) {
      ordered.accepted.add(id);
      ordered.answered += 1;
      return id;
    }
    isSure &&= answer !== null && answer.status < 500;
    if (answer !== null && answer.status < 500 && !AGAIN.includes(answer.status)) break;
  }
  if (!isSure) ordered.unsure += 1;
  return null;
}

async function task(scene: Scene, mode: 'image' | 'video', directive: string): Promise<Answer | null> {
  const id = await order(scene, mode, directive);
  return id === null ? null : scene.caller.untilFinal(scene.person.session, id);
}

async function cancelTask(scene: Scene): Promise<void> {
  const id = await order(scene, 'video', 'seconds=3');
  if (id === null) return;
  await scene.caller.send(scene.person.session, 'DELETE', `/api/tasks/${id}`);
  await scene.caller.untilFinal(scene.person.session, id);
}

async function retryTask(scene: Scene): Promise<void> {
  const { caller, person } = scene;
  const id = await order(scene, 'image', 'outcome=fail*1');
  if (id === null) return;
  await caller.untilFinal(person.session, id);
  await caller.send(person.session, 'POST', `/api/tasks/${id}/retry`);
  await caller.untilFinal(person.session, id);
}

/** Nothing is known of what comes of it: it is ordered with a key, and counts among no orders. */
async function leaveImage({ caller, person, chance }: Scene): Promise<void> {
  await caller.send(
    person.key,
    'POST',
    '/v1/images/generations',
    { ...IMAGE, prompt: 'left alone [[sandbox seconds=0]]' },
    chance.between(1, 60),
  );
}

async function readLists({ caller, person }: Scene): Promise<void> {
  for (const path of ['/api/tasks?limit=20', '/api/usage', '/api/keys', '/api/auth/me'])
    await caller.send(person.session, 'GET', path);
}

async function badInput({ caller, person, chance }: Scene): Promise<void> {
  const body = BAD_BODIES[chance.between(0, BAD_BODIES.length - 1)];
  const path = ['/v1/chat/completions', '/v1/images/generations', '/v1/videos/generations', '/v1/estimates'][
    chance.between(0, 3)
  ];
  await caller.send(person.key, 'POST', path ?? '', body);
  await caller.send({ authorization: 'Bearer sk-svc_nothing' }, 'GET', '/v1/balance');
  await caller.send(person.session, 'GET', '/api/tasks/task_00000000000000000000000000');
}

async function useKeys({ caller, person }: Scene): Promise<void> {
  const made = await caller.send(person.session, 'POST', '/api/keys', { name: 'for a moment', quota: 5 });
  const [id, key] = [textIn(made, 'id'), textIn(made, 'key')];
  if (id === null || key === null) return;
  await caller.send({ authorization: `Bearer ${key}` }, 'GET', '/api/usage/token');
  await caller.send(person.session, 'PATCH', `/api/keys/${id}`, { name: 'renamed' });
  await caller.send(person.session, 'DELETE', `/api/keys/${id}`);
}

async function useRedeemCode({ caller, person, administrator }: Scene): Promise<void> {
  const draft = { label: 'Soak', credits: 1, maxUses: 2 };
  const made = await caller.send(administrator.session, 'POST', '/api/admin/redeem-codes', draft);
  const [id, code] = [textIn(made, 'id'), textIn(made, 'code')];
  if (id === null || code === null) return;
  await caller.send(person.session, 'POST', '/api/redeem', { code });
  await caller.send(administrator.session, 'PATCH', `/api/admin/redeem-codes/${id}`, { disabled: true });
  await caller.send(person.session, 'POST', '/api/redeem', { code });
}
