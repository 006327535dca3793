// Replaces the gateway's processes one after the other, as docs/operation.md says of an upgrade.
import type { Stage } from './stage.ts';

const ROLLED = ['api', 'second-api', 'worker', 'second-worker'];

/** Brings each container up anew if image or settings changed, healthy before the next one. */
export async function replaceProcesses(stage: Stage): Promise<void> {
  for (const service of ROLLED) {
    await stage.compose('up', '--detach', '--no-deps', '--no-build', service);
    await stage.untilHealthy(service);
    if (service.endsWith('api')) await stage.reloadProxy();
  }
}
