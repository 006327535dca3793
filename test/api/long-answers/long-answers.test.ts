// Long answers are read beside what else the process does.
import { expect } from 'chai';
import { setImmediate } from 'node:timers/promises';
import { wholeChat } from '../../../api/chat/chat-form.ts';
import { parseAnswer } from '../../../api/chat/parse-answer.ts';
import { createLongAnswers } from '../../../api/long-answers/long-answers.ts';
import { longAnswer } from '../../support/long-answers.ts';

/** 21 MB, the longest answer of many models. */
const TOKENS = 16_000;
const ROUNDS = 5;
const SOURCE = { kind: 'chat', model: 'ours' } as const;

describe('a long answer', () => {
  const bytes = Buffer.from(JSON.stringify(longAnswer(TOKENS)));
  const read = createLongAnswers({ warn: () => expect.fail('an answer was not read') });

  it('stops the process for a third of its reading at most', async () => {
    await read(Buffer.from(JSON.stringify(longAnswer(1))), SOURCE); // starts the thread
    const form = wholeChat(SOURCE);
    const startedAt = performance.now();
    const answer = parseAnswer(bytes, form);
    const text = answer && JSON.stringify(form.present(answer, {}));
    const ofReadingMs = performance.now() - startedAt;

    let leastMs = Infinity; // a stop of its own comes in every round, one by a busy machine does not
    for (let round = 0; round < ROUNDS && leastMs >= ofReadingMs / 3; round += 1) {
      const { longestMs, body } = await readBesideOthers();
      expect(body === text, 'the same text').to.equal(true);
      leastMs = Math.min(leastMs, longestMs);
    }
    expect(leastMs).to.be.below(ofReadingMs / 3);
  });

  /** Reads the answer; tells the longest stop of the process meanwhile. */
  async function readBesideOthers(): Promise<{ longestMs: number; body: unknown }> {
    const reading = read(Buffer.from(bytes), SOURCE);
    const ended = reading.then(() => true);
    let longestMs = 0;
    for (let isOver = false; !isOver;) {
      const atMs = performance.now();
      isOver = await Promise.race([ended, setImmediate(false)]);
      longestMs = Math.max(longestMs, performance.now() - atMs);
    }
    return { longestMs, body: (await reading)?.body({}) };
  }
});
