// What a test file started and has to end again, however far it got before something broke.

export interface Cleanup {
  /** Remembers how to end something. */
  later(step: () => Promise<unknown>): void;
  /** Ends everything, the newest first; a step that breaks does not keep the others from being done. */
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
