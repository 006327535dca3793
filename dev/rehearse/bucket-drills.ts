// A bucket that answers late, and one that is full: what stands before it, and what callers may see of it.
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Callers } from './callers.ts';
import type { Drill } from './drill.ts';
import { run } from './engine.ts';
import { PROJECT } from './files.ts';
import { NETWORK, type Stage } from './stage.ts';
import { MP4, type Account } from './walk.ts';

/** The bucket's name in the network, as SVC_S3_ENDPOINT has it, and its name behind the gate. */
const [NAME, BEHIND] = ['bucket', 'bucket-behind'];
const GATE = `${PROJECT}_gate`;
const DELAY_MS = 3_000;
const DISTURBED_MS = 20_000;

/** `image`: the gateway's, which has Node. */
export function bucketDrills(callers: Callers, { apiKey }: Pick<Account, 'apiKey'>, image: string): Drill[] {
  return [
    {
      name: 'slow bucket',
      about: `each of its requests ${DELAY_MS / 1000} s late, for ${DISTURBED_MS / 1000} s`,
      disturb: (stage) =>
        behindGate(stage, image, ['slow', BEHIND, String(DELAY_MS)], () => sleep(DISTURBED_MS)),
    },
    {
      name: 'full bucket',
      about: `507 to whatever is written, for ${DISTURBED_MS / 1000} s; an upload meanwhile is answered with 503`,
      disturb: (stage) =>
        behindGate(stage, image, ['full', BEHIND], async () => {
          await expectRefusedUpload(callers, apiKey);
          await sleep(DISTURBED_MS);
        }),
    },
  ];
}

/** Puts the gate before the bucket while the work goes on; both changes cut the connections to it. */
async function behindGate(
  stage: Stage,
  image: string,
  words: readonly string[],
  work: () => Promise<unknown>,
): Promise<void> {
  const file = `${resolve('dev/rehearse/gate.ts')}:/gate/gate.ts:ro`;
  const named = ['--name', GATE, '--network', NETWORK, '--volume', file];
  await run('docker', ['run', '--detach', '--init', ...named, image, 'node', '/gate/gate.ts', ...words]);
  try {
    await stage.rename('bucket', BEHIND);
    await run('docker', ['network', 'disconnect', NETWORK, GATE]);
    await run('docker', ['network', 'connect', '--alias', NAME, NETWORK, GATE]);
    await work();
    if (!/^PUT /m.test(await run('docker', ['logs', GATE])))
      throw new Error('nothing was written past the gate');
  } finally {
    await run('docker', ['rm', '--force', GATE]);
    await stage.rename('bucket', NAME);
  }
}

/** Throws unless the upload is refused as our own trouble, in a sentence that tells nothing of the bucket. */
async function expectRefusedUpload(callers: Callers, apiKey: string): Promise<void> {
  const form = new FormData();
  form.append('file', new Blob([MP4], { type: 'video/mp4' }), 'clip.mp4');
  const headers = { authorization: `Bearer ${apiKey}` };
  const response = await callers.raw('/v1/uploads/videos', { method: 'POST', headers, body: form });
  const text = await response.text();
  if (response.status !== 503 || /507|InsufficientStorage|No space/.test(text))
    throw new Error(`an upload to a full bucket is answered with ${response.status} ${text}`);
}
