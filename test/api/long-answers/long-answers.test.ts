// Long answers are read beside what else the process does.
import { expect } from 'chai';
import { setImmediate } from 'node:timers/promises';
import { wholeChat } from '../../../api/chat/chat-form.ts';
import { parseAnswer } from '../../../api/chat/parse-answer.ts';
import { createLongAnswers } from '../../../api/long-answers/long-answers.ts';
import { longAnswer } from '../../support/long-answers.ts';

/** 21 MB, the longest answer of many models. */
const TOKENS = 16_000;
/** One of them may fall into the collection of garbage of what was read before. */
const TIMES = 3;
const SOURCE = { kind: 'chat', model: 'ours' } as const;

describe('a long answer', () => {
  const bytes = Buffer.from(JSON.stringify(longAnswer(TOKENS)));
  const read = createLongAnswers({ warn: () => expect.fail('an answer was not read') });

  it('stops the process for a third of its reading at most', async () => {
    await read(Buffer.from(JSON.stringify(longAnswer(1))), SOURCE); // starts the thread
    const form = wholeChat(SOURCE);
    const before = process.threadCpuUsage();
    const answer = parseAnswer(bytes, form);
    const text = answer && JSON.stringify(form.present(answer, {}));
    const ofReading = process.threadCpuUsage(before).user;

    const longest: number[] = [];
    for (let time = 0; time < TIMES; time += 1) {
      const reading = read(Buffer.from(bytes), SOURCE);
      longest.push(await longestStop(reading));
      expect((await reading)?.body({}) === text, 'the same text').to.equal(true);
    }
    expect(Math.min(...longest)).to.be.below(ofReading / 3);
  });
});

/**
 * The longest round of the event loop until then, in time of this thread's processor: another program may
 * hold the processor for longer.
 */
async function longestStop(reading: Promise<unknown>): Promise<number> {
  const ended = reading.then(() => true);
  let longest = 0;
  for (let isOver = false; !isOver;) {
    const begun = process.threadCpuUsage();
    isOver = await Promise.race([ended, setImmediate(false)]);
    longest = Math.max(longest, process.threadCpuUsage(begun).user);
  }
  return longest;
}
