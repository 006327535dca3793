// Riding together: what is asked while a statement runs waits, and goes out in one statement with all that came meanwhile.

interface Waiter<Item, Answer> {
  item: Item;
  resolve: (answer: Answer) => void;
  reject: (error: unknown) => void;
}

/**
 * Asks `askAll` for many items at once, one statement at a time with at most `ridersMax` of them; callers cannot tell.
 * Answers come in the order of the items. When a statement fails in a way that `isOneRidersFault` recognises, such as
 * a lock that somebody holds, each of its riders is asked alone: nobody suffers for another.
 */
export function batch<Item, Answer>(
  askAll: (items: readonly Item[]) => Promise<readonly Answer[]>,
  options: {
    ridersMax: number;
    /** How long a statement may wait for more riders, when there were more in the one before. */
    gatherMs: number;
    isOneRidersFault: (error: unknown) => boolean;
  },
): (item: Item) => Promise<Answer> {
  const waiting: Waiter<Item, Answer>[] = [];
  let isRunning = false;

  async function ask(riders: readonly Waiter<Item, Answer>[]): Promise<void> {
    try {
      const answers = await askAll(riders.map(({ item }) => item));
      for (const [index, { resolve, reject }] of riders.entries()) {
        const answer = answers[index];
        if (answer === undefined) reject(new Error('a rider got no answer'));
        else resolve(answer);
      }
    } catch (error) {
      if (riders.length > 1 && options.isOneRidersFault(error)) {
        await Promise.all(riders.map((rider) => ask([rider])));
        return;
      }
      for (const { reject } of riders) reject(error);
    }
  }

  async function depart(): Promise<void> {
    isRunning = true;
    for (let last = 0; waiting.length > 0;) {
      // Those who were just answered come back in a moment: one larger statement costs less than two.
      if (waiting.length < last) await new Promise((resolve) => setTimeout(resolve, options.gatherMs));
      const riders = waiting.splice(0, options.ridersMax);
      last = riders.length;
      await ask(riders);
    }
    isRunning = false;
  }

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      if (!isRunning) void depart();
    });
}
