// Ends what a test file has started, even when its setup failed half-way.

export interface Cleanup {
  /** Registers a step that ends something. */
  later(step: () => Promise<unknown>): void;
  /** Runs all steps, the newest first; a failing step does not prevent the others. */
  run(): Promise<void>;
}

export function createCleanup(): Cleanup {
  const steps: (() => Promise<unknown>)[] = [];
  return {
    later: (step) => void steps.push(step),
    run: async () => {
      const errors: unknown[] = [];
      for (let step = steps.pop(); step; step = steps.pop())
        await step().catch((error: unknown) => errors.push(error));
      if (errors.length > 0) throw new AggregateError(errors, 'not everything could be ended');
    },
  };
}
