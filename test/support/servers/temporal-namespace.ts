// A Temporal namespace of its own for each test file, so that workers of different files do not mix.
import { ensureNamespace } from '../../../dev/servers/temporal-namespace.ts';

/** Ready at once: workflows can be started in it when this returns. */
export async function createNamespace(address: string, name: string): Promise<void> {
  await ensureNamespace({ address, namespace: name });
}
