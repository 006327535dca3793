// Looking at the messages of a chat: what it costs, whatever they hold.
import { expect } from 'chai';
import { checkMessageParts } from '../../../api/chat/request/chat-messages.ts';

describe('the check of messages', () => {
  // As many as a body may have, all with names of their own.
  const fields = Object.fromEntries(Array.from({ length: 49_000 }, (_, index) => [`k${index}`, 1]));
  const rows = {
    'a message': [{ role: 'user', content: 'a', ...fields }],
    'a part of text': [{ role: 'user', content: [{ type: 'text', text: 'a', ...fields }] }],
  } as const;
  for (const [what, messages] of Object.entries(rows))
    it(`takes milliseconds for 49,000 fields of ${what}`, () => {
      const sent = JSON.parse(JSON.stringify(messages)); // as a body is, not as the literals above are
      const times = Array.from({ length: 5 }, () => {
        const before = process.threadCpuUsage();
        checkMessageParts(sent);
        return process.threadCpuUsage(before).user / 1000;
      });
      expect(Math.min(...times)).to.be.below(25);
    });
});
