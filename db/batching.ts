// Batching: what is asked while a statement runs goes out together in the next statement.
import { setImmediate, setTimeout } from 'node:timers/promises';
import pLimit from 'p-limit';

interface Waiter<Item, Answer> {
  item: Item;
  resolve: (answer: Answer) => void;
  reject: (error: unknown) => void;
}

/** Parts of a failed batch, and items alone, asked at once: beside the next batches, on few connections. */
const PARTS_MAX = 2;
const ALONE_MAX = 2;

/**
 * PostgreSQL's codes for a fault of one item among others: of its data (classes 22 and 23), a lock that was
 * not to be had in time, a deadlock, a serialization failure.
 */
const ONE_ITEMS_FAULT = /^(22...|23...|55P03|40P01|40001)$/;

/**
 * Turns `askAll` into a function that asks for one item; one statement runs at a time, for at most
 * `itemsMax` items. `askAll` answers in the order of its items. When it fails in a way that
 * `isOneItemsFault` recognises, such as a lock that another transaction holds, the items of each group are
 * asked for themselves, and each item alone where that fails or where there are no groups: so no caller
 * fails because of another, nor waits for the many of another group. The next batches do not wait for that.
 */
export function batch<Item, Answer>(
  askAll: (items: readonly Item[]) => Promise<readonly Answer[]>,
  options: {
    itemsMax: number;
    /**
     * How long a statement waits for more items, when the one before had more. Without it, for a round of
     * the event loop.
     */
    gatherMs?: number;
    isOneItemsFault: (error: unknown) => boolean;
    /** Names the group of an item: those of one may fail for the same reason, such as a locked account. */
    groupOf?: (item: Item) => string;
  },
): (item: Item) => Promise<Answer> {
  const queue: Waiter<Item, Answer>[] = [];
  const [apart, alone] = [pLimit(PARTS_MAX), pLimit(ALONE_MAX)];
  const { itemsMax, gatherMs, groupOf } = options;
  let isRunning = false;

  async function ask(waiters: readonly Waiter<Item, Answer>[]): Promise<void> {
    try {
      const answers = await askAll(waiters.map(({ item }) => item));
      for (const [index, { resolve, reject }] of waiters.entries()) {
        const answer = answers[index];
        if (answer === undefined) reject(new Error('an item of a batch got no answer'));
        else resolve(answer);
      }
    } catch (error) {
      if (waiters.length > 1 && options.isOneItemsFault(error)) {
        divide(waiters);
        return;
      }
      for (const { reject } of waiters) reject(error);
    }
  }

  function divide(waiters: readonly Waiter<Item, Answer>[]): void {
    const groups = groupOf ? Map.groupBy(waiters, ({ item }) => groupOf(item)) : null;
    if (groups && groups.size > 1) for (const group of groups.values()) void apart(() => ask(group));
    else for (const waiter of waiters) void alone(() => ask([waiter]));
  }

  async function flush(): Promise<void> {
    isRunning = true;
    for (let lastCount = 0; queue.length > 0;) {
      // Callers that were just answered come back in a moment: one larger statement costs less than two.
      if (queue.length < lastCount) await (gatherMs === undefined ? setImmediate() : setTimeout(gatherMs));
      const waiters = queue.splice(0, itemsMax);
      lastCount = waiters.length;
      await ask(waiters);
    }
    isRunning = false;
  }

  return (item) =>
    new Promise((resolve, reject) => {
      queue.push({ item, resolve, reject });
      if (!isRunning) void flush();
    });
}

/** Whether a statement failed because of one of its items, so that the others may succeed without it. */
export function isOneItemsFault(error: unknown): boolean {
  return error instanceof Error && 'code' in error && ONE_ITEMS_FAULT.test(String(error.code));
}

/** Whether PostgreSQL refused a statement for its data (classes 22 and 23): the same data fail again. */
export function isDataFault(error: unknown): boolean {
  return error instanceof Error && 'code' in error && /^2[23]...$/.test(String(error.code));
}
