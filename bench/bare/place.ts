// Where the workflows of the floor run: address and namespace from the environment, a queue of their own.

/** The namespace is Temporal's default one unless `TEMPORAL_NAMESPACE` names another. */
export function readPlace(): { address: string; namespace: string; taskQueue: string } {
  return {
    address: process.env['TEMPORAL_ADDRESS'] ?? '',
    namespace: process.env['TEMPORAL_NAMESPACE'] ?? 'default',
    taskQueue: 'bench-bare',
  };
}
