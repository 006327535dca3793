// Flags of Node for processes that answer callers. Containers give them in their commands.

/**
 * One thread beside its own to collect garbage and to compile. Node starts four, and while they work through
 * a large heap on a machine of two processors, the thread that answers waits for its turn among them.
 */
export const SERVER_FLAGS = ['--v8-pool-size=1'] as const;
