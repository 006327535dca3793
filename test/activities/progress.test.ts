// What is noted of vendors' jobs is written together, and a write that fails costs nothing but itself.
import { expect } from 'chai';
import { mock } from 'node:test';
import { createProgressNotes, type Progress } from '../../activities/progress.ts';

const progressOf = (taskId: string, percent: number): Progress => ({ task: { taskId, attempt: 1 }, percent });

describe('notes of progress', () => {
  beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }));
  afterEach(() => mock.timers.reset());

  /** A second of the clock, and what follows from it. */
  async function passSecond(): Promise<void> {
    mock.timers.tick(1_000);
    await new Promise((resolve) => setImmediate(resolve));
  }

  it('of one second are one write, with the newest of each task', async () => {
    const written: (readonly Progress[])[] = [];
    const notes = createProgressNotes(async (noted) => void written.push(noted));
    notes.note(progressOf('one', 10));
    notes.note(progressOf('two', 20));
    notes.note(progressOf('one', 30));
    expect(written).to.eql([]);
    await passSecond();
    expect(written).to.eql([[progressOf('one', 30), progressOf('two', 20)]]);
    await passSecond();
    expect(written).to.have.length(1);
  });

  it('of more than a thousand tasks are several writes, one after the other', async () => {
    const lengths: number[] = [];
    const notes = createProgressNotes(async (noted) => void lengths.push(noted.length));
    for (let task = 0; task < 1_500; task += 1) notes.note(progressOf(String(task), 10));
    await passSecond();
    expect(lengths).to.eql([1_000]);
    await passSecond();
    expect(lengths).to.eql([1_000, 500]);
  });

  it('go on after a write that failed', async () => {
    const written: (readonly Progress[])[] = [];
    let isAway = true;
    const notes = createProgressNotes(async (noted) => {
      if (isAway) throw new Error('away');
      written.push(noted);
    });
    notes.note(progressOf('one', 10));
    await passSecond();
    isAway = false;
    notes.note(progressOf('one', 20));
    await passSecond();
    expect(written).to.eql([[progressOf('one', 20)]]);
  });
});
