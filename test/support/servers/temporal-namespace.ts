// Creates a Temporal namespace for each test file, so that workers of different files do not mix.
import { ensureNamespace } from '../../../dev/servers/temporal-namespace.ts';

/** Resolves when workflows can be started in the namespace. */
export async function createNamespace(address: string, name: string): Promise<void> {
  await ensureNamespace({ address, namespace: name });
}
