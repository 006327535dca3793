// Joins middleware into one step, so that Express's router is passed once and not once for each of them.
import type { RequestHandler } from 'express';

/**
 * Runs the steps one after the other, with Express's rules: each calls `next`, or answers; what it throws,
 * rejects with or passes to `next` ends the chain as an error.
 */
export function chain(...steps: readonly RequestHandler[]): RequestHandler {
  return (req, res, end) => {
    let index = 0;
    const next = (error?: unknown): void => {
      const step = steps[index];
      if (!step || (error !== undefined && error !== null)) {
        end(error);
        return;
      }
      index += 1;
      try {
        const running: unknown = step(req, res, next);
        if (running instanceof Promise) void endOnRejection(running, end);
      } catch (thrown) {
        end(thrown);
      }
    };
    next();
  };
}

async function endOnRejection(running: Promise<unknown>, end: (error: unknown) => void): Promise<void> {
  try {
    await running;
  } catch (error) {
    end(error);
  }
}
