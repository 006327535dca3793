// Batching: one statement at a time, each caller answered as if it had asked alone.
import { expect } from 'chai';
import { batch } from '../../db/batching.ts';

/** Stands for the statement: notes what it was asked, and answers when the test says so. */
function createStatement() {
  const asked: number[][] = [];
  const running: { answer: (answers: readonly string[]) => void; fail: (error: Error) => void }[] = [];
  const askAll = (items: readonly number[]) => {
    asked.push([...items]);
    return new Promise<readonly string[]>((resolve, reject) =>
      running.push({ answer: resolve, fail: reject }),
    );
  };
  const next = () => {
    const statement = running.shift();
    if (!statement) throw new Error('no statement is running');
    return statement;
  };
  return { asked, askAll, next };
}

const OPTIONS = {
  itemsMax: 3,
  isOneItemsFault: (error: unknown) => String(error).includes('lock'),
};

describe('a batch', () => {
  it('asks for the first item at once, and for those that come meanwhile together', async () => {
    const { asked, askAll, next } = createStatement();
    const ask = batch(askAll, OPTIONS);
    const answers = [ask(1), ask(2), ask(3)];
    expect(asked).to.deep.equal([[1]]);
    next().answer(['one']);
    await answers[0];
    await settled();
    expect(asked).to.deep.equal([[1], [2, 3]]);
    next().answer(['two', 'three']);
    expect(await Promise.all(answers)).to.deep.equal(['one', 'two', 'three']);
  });

  it('puts no more items into a statement than it may hold', async () => {
    const { asked, askAll, next } = createStatement();
    const ask = batch(askAll, OPTIONS);
    const answers = [1, 2, 3, 4, 5].map((item) => ask(item));
    next().answer(['1']);
    await settled();
    next().answer(['2', '3', '4']);
    await settled();
    next().answer(['5']);
    expect(await Promise.all(answers)).to.deep.equal(['1', '2', '3', '4', '5']);
    expect(asked).to.deep.equal([[1], [2, 3, 4], [5]]);
  });

  it('asks each item alone when one of them is at fault, and fails that one only', async () => {
    const { asked, askAll, next } = createStatement();
    const ask = batch(askAll, OPTIONS);
    const first = ask(1);
    const others = Promise.allSettled([ask(2), ask(3)]);
    next().answer(['one']);
    await first;
    await settled();
    next().fail(new Error('a lock'));
    await settled();
    expect(asked.slice(2)).to.deep.equal([[2], [3]]);
    next().fail(new Error('a lock'));
    next().answer(['three']);
    const [second, third] = await others;
    expect(second).to.include({ status: 'rejected' });
    expect(third).to.include({ status: 'fulfilled', value: 'three' });
  });

  it('asks for each group by itself when one item is at fault, and alone within its group only', async () => {
    const { asked, askAll, next } = createStatement();
    const ask = batch(askAll, { ...OPTIONS, groupOf: (item) => (item > 9 ? 'two digits' : 'one') });
    const first = ask(1);
    const others = Promise.allSettled([ask(10), ask(2), ask(11)]);
    next().answer(['one']);
    await first;
    await settled();
    next().fail(new Error('a lock'));
    await settled();
    expect(asked.slice(2)).to.deep.equal([[10, 11], [2]]);
    next().fail(new Error('a lock'));
    next().answer(['two']);
    await settled();
    expect(asked.slice(4)).to.deep.equal([[10], [11]]);
    next().answer(['ten']);
    next().fail(new Error('a lock'));
    expect((await others).map(({ status }) => status)).to.deep.equal(['fulfilled', 'fulfilled', 'rejected']);
  });

  it('fails all items of a statement that fails, and goes on with the next', async () => {
    const { askAll, next } = createStatement();
    const ask = batch(askAll, OPTIONS);
    const first = Promise.allSettled([ask(1)]);
    const second = ask(2);
    next().fail(new Error('the database is away'));
    expect((await first)[0]).to.include({ status: 'rejected' });
    await settled();
    next().answer(['two']);
    expect(await second).to.equal('two');
  });

  it('fails an item that got no answer', async () => {
    const { askAll, next } = createStatement();
    const answer = Promise.allSettled([batch(askAll, OPTIONS)(1)]);
    next().answer([]);
    expect((await answer)[0]).to.include({ status: 'rejected' });
  });
});

/** Waits longer than a batch gathers. */
function settled(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 20));
}
