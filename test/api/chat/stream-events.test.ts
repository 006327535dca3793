// Streams of chat completions as upstreams of all kinds send them: errors in every shape, and ends that are
// cut.
import { expect } from 'chai';
import { readChatStream } from '../../../api/chat/chat-form.ts';
import type { StreamPiece } from '../../../api/chat/stream-events.ts';

const CHUNK = 'data: {"choices":[{"index":0,"delta":{"content":"hi"}}]}';

function read(text: string): StreamPiece[] {
  return readChatStream().read(Buffer.from(text));
}

/** What comes of a stream that ends with `end`, beside its first event. */
function readToEnd(end: string): StreamPiece[] {
  const form = readChatStream();
  const [, ...pieces] = form.read(Buffer.from(`${CHUNK}\n\n${end}`));
  return [...pieces, ...form.readEnd()];
}

describe('a stream of chat completions', () => {
  for (const [what, event] of [
    ['an error', '{"error":{"message":"Boom."}}'],
    ['an error as a text', '{"error":"Boom."}'],
    ['an error in a list', '[{"error":{"message":"Boom.","code":503}}]'],
    ['an object that is an error', '{"object":"error","message":"Boom.","type":"BadRequest","code":400}'],
    ['an event of the type of errors', '{"type":"error","message":"Boom."}'],
  ] as const)
    it(`fails with ${what}, and nothing of it is passed on`, () => {
      expect(read(`data: ${event}\n\n`)).to.deep.equal([{ kind: 'error', message: 'Boom.' }]);
    });

  it('fails with an event by the name of error, whatever is in it', () => {
    expect(read('event: error\ndata: {"message":"Boom."}\n\n')).to.deep.equal([
      { kind: 'error', message: 'Boom.' },
    ]);
    expect(read('event:error\ndata: Boom.\n\n')).to.deep.equal([{ kind: 'error', message: null }]);
  });

  it('goes on where its events say that there is no error', () => {
    const text = ['null', 'false', '""'].map((none) => `data: {"choices":[],"error":${none}}\n\n`).join('');
    expect(read(text).map((piece) => piece.kind)).to.deep.equal(['text', 'text', 'text']);
  });

  it('may speak of errors in the words of the model', () => {
    const text = `data: ${JSON.stringify({
      choices: [{ index: 0, delta: { content: '{"object":"error"}\nevent: error\n{"type":"error"}' } }],
    })}\n\n`;
    expect(read(text)).to.deep.equal([{ kind: 'text', text }]);
  });

  for (const cut of [CHUNK.slice(0, 30), 'data: {"choi', 'dat', 'event: error'])
    it(`is broken where it ends with ${cut}`, () => {
      expect(() => readToEnd(cut)).to.throw();
    });

  for (const [what, end, pieces] of [
    ['nothing', '', []],
    ['white space', '\r\n', []],
    ['a comment', ': bye', []],
    ['its last word and no blank line', 'data: [DONE]', [{ kind: 'done' }]],
    ['text and no blank line', CHUNK, [{ kind: 'text', text: `${CHUNK}\n\n` }]],
    ['an error and no blank line', 'data: {"error":"Boom."}\r\n', [{ kind: 'error', message: 'Boom.' }]],
  ] as const)
    it(`is whole where it ends with ${what}`, () => {
      expect(readToEnd(end)).to.deep.equal(pieces);
    });
});
