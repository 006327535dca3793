// Riding together: what is asked while a statement runs waits, and goes out in one statement with all that came meanwhile.

interface Rider<Item, Answer> {
  item: Item;
  resolve: (answer: Answer) => void;
  reject: (error: unknown) => void;
}

/**
 * Asks `askAll` for many items at once; callers cannot tell. Answers come in the order of the items. At most
 * `statementsMax` run at the same time, each with at most `ridersMax` items.
 */
export function rideTogether<Item, Answer>(
  askAll: (items: readonly Item[]) => Promise<readonly Answer[]>,
  { ridersMax, statementsMax }: { ridersMax: number; statementsMax: number },
): (item: Item) => Promise<Answer> {
  const waiting: Rider<Item, Answer>[] = [];
  let running = 0;

  const depart = async (): Promise<void> => {
    running += 1;
    while (waiting.length > 0) {
      const riders = waiting.splice(0, ridersMax);
      try {
        const answers = await askAll(riders.map(({ item }) => item));
        riders.forEach(({ resolve, reject }, index) => {
          const answer = answers[index];
          if (answer === undefined) reject(new Error('a rider got no answer'));
          else resolve(answer);
        });
      } catch (error) {
        for (const { reject } of riders) reject(error);
      }
    }
    running -= 1;
  };

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      if (running < statementsMax) void depart();
    });
}
