// Flags of Node for processes that answer callers. Containers give them in their commands.

/**
 * One thread beside its own to collect garbage and to compile. Node starts four, and while they work through
 * a large heap on a machine of two processors, the thread that answers waits for its turn among them. And
 * room for 32 MiB of young objects: with Node's 16, what thousands of requests under way hold is taken for
 * old, and the whole heap is collected for it. All is measured in docs/decisions/040.
 *
 * And no allocation sites that V8 takes for long-lived: what survived once or twice under load is then made
 * among the old objects for good, dead or not, and each of them keeps the young ones that it points to.
 */
export const SERVER_FLAGS = [
  '--v8-pool-size=1',
  '--min-semi-space-size=16',
  '--max-semi-space-size=32',
  '--no-allocation-site-pretenuring',
] as const;
