// Long answers are read beside what else the process does.
import { expect } from 'chai';
import { setImmediate } from 'node:timers/promises';
import { wholeChat } from '../../../api/chat/chat-form.ts';
import { parseAnswer } from '../../../api/chat/parse-answer.ts';
import { createLongAnswers } from '../../../api/long-answers/long-answers.ts';
import { longAnswer } from '../../support/long-answers.ts';

/** 21 MB, the longest answer of many models. */
const TOKENS = 16_000;
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

    const reading = read(Buffer.from(bytes), SOURCE);
    const ended = reading.then(() => true);
    // In time of this thread's processor: another program may hold the processor for longer.
    let longest = 0;
    for (let isOver = false; !isOver;) {
      const begun = process.threadCpuUsage();
      isOver = await Promise.race([ended, setImmediate(false)]);
      longest = Math.max(longest, process.threadCpuUsage(begun).user);
    }
    const body = (await reading)?.body({});
    expect(body === text, 'the same text').to.equal(true);
    expect(longest).to.be.below(ofReading / 3);
  });
});
