// Long events of Responses that are passed on: read and rewritten in their text, while they arrive.
import { expect } from 'chai';
import type { ChatCharge } from '../../../api/chat/chat-billing.ts';
import { DeliveredEvents } from '../../../api/chat/delivered-events.ts';
import { eachEvent, MalformedStreamError, type StreamPiece } from '../../../api/chat/stream-events.ts';
import { membersOf } from '../../../api/responses/members.ts';
import { passedForm } from '../../../api/responses/passed-form.ts';
import type { StreamForm } from '../../../api/chat/answer-form.ts';
import { probabilitiesOf } from '../../support/long-answers.ts';

const CHARGE: ChatCharge = { promptTokens: 5, completionTokens: 7, credits_estimate: 3, credits_charged: 1 };
const USAGE = { input_tokens: 5, output_tokens: 7, total_tokens: 12 };
/** As chat completions name it; the details are absent. */
const READ = {
  prompt_tokens: 5,
  completion_tokens: 7,
  total_tokens: 12,
  prompt_tokens_details: undefined,
  completion_tokens_details: undefined,
};
/** 400 KB of what looks like members, and of what their texts escape. */
const TRICKY = String.raw`ü "usage":{"input_tokens":9} \ "response":{ }] `.repeat(10_000);
const CHUNK_BYTES = 64 * 1024;

const event = (type: string, fields: object): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
const output = (text: string, logprobs: readonly object[] = []) => [
  { type: 'message', usage: 'none', content: [{ type: 'output_text', text, logprobs }] },
];

function read(form: StreamForm, text: string, chunkBytes = CHUNK_BYTES): StreamPiece[] {
  const bytes = Buffer.from(text);
  const pieces: StreamPiece[] = [];
  for (let at = 0; at < bytes.length; at += chunkBytes)
    pieces.push(...form.read(bytes.subarray(at, at + chunkBytes)));
  return pieces;
}

describe('a long event of Responses that is passed on', () => {
  const usual = {
    id: 'resp_1',
    model: 'theirs',
    output: output(TRICKY),
    store: true,
    usage: USAGE,
    user: null,
  };
  const { model: _model, store: _store, ...bare } = usual;
  for (const [what, response] of [
    ['with its members', usual],
    ['without those that are put in', bare],
  ] as const)
    for (const chunkBytes of [997, CHUNK_BYTES])
      for (const lineEnd of ['\n', '\r\n'])
        it(`has our model and the cost, ${what}, in chunks of ${chunkBytes}, ${lineEnd.length} a line`, () => {
          const form = passedForm('ours', 'req_1').openStream();
          const delta = event('response.output_text.delta', { sequence_number: 1, delta: 'a' });
          const last = event('response.completed', { sequence_number: 2, response });
          const pieces = read(form, `${delta}${last}`.replaceAll('\n', lineEnd), chunkBytes);
          expect(pieces[0]).to.deep.equal({ kind: 'text', text: delta });
          expect(pieces[1]).to.deep.equal({ kind: 'usage', usage: READ, text: null });
          expect(pieces[2]).to.deep.equal({ kind: 'done' });
          const [end] = eachEvent(form.end(READ, CHARGE));
          const usage = {
            ...USAGE,
            input_tokens_details: { cached_tokens: 0 },
            output_tokens_details: { reasoning_tokens: 0 },
            credits_estimate: 3,
            credits_charged: 1,
          };
          expect(end).to.deep.equal({
            type: 'response.completed',
            sequence_number: 2,
            response: { ...response, model: 'ours', store: false, usage },
          });
        });

  it('is passed on and not counted where it repeats, and counted where it goes on', () => {
    const form = passedForm('ours', 'req_1').openStream();
    const delivered = new DeliveredEvents(null);
    delivered.readText = (json) => form.billableTextOf(json);
    const repeat = event('response.output_text.done', { text: TRICKY, logprobs: [{ delta: 'x' }] });
    const delta = event('response.output_text.delta', { delta: TRICKY, logprobs: [{ delta: 'x' }] });
    const created = event('response.created', { response: { instructions: TRICKY, model: 'theirs' } });
    let passed = '';
    for (const piece of read(form, `${created}${delta}${repeat}`)) {
      if (piece.kind !== 'text') throw new Error(`a piece of kind ${piece.kind}`);
      passed += piece.text;
      delivered.add(piece.counted ?? piece.text, piece.text);
    }
    const [first] = eachEvent(passed);
    expect(membersOf(membersOf(first)['response'])).to.include({ model: 'ours', store: false });
    expect(passed.endsWith(`${delta}${repeat}`), 'the others as they came').to.equal(true);
    expect(delivered.text() === TRICKY, 'the text once').to.equal(true);
  });

  it('is read as others are where its data are on several lines', () => {
    const form = passedForm('ours', 'req_1').openStream();
    const json = JSON.stringify({ type: 'response.completed', response: usual }, null, 1);
    const pieces = read(form, `data: ${json.replaceAll('\n', '\ndata: ')}\n\n`);
    expect(pieces[0]).to.deep.equal({ kind: 'usage', usage: READ, text: null });
    expect(form.end(READ, CHARGE)).to.include('"model":"ours"');
  });

  it('ends the stream with the error that it tells', () => {
    const response = { ...usual, error: { message: 'Boom.' } };
    const pieces = read(passedForm('ours', 'r').openStream(), event('response.failed', { response }));
    expect(pieces).to.deep.equal([{ kind: 'error', message: 'Boom.' }]);
  });

  for (const [what, text] of [
    ['longer than any', event('response.completed', { response: 'x'.repeat(17 * 1024 ** 2) })],
    ['nested too deeply', `data: {"a":${'['.repeat(300_000)}`],
    ['of too many members', `data: {"a":{${'"b":1,'.repeat(60_000)}`],
  ] as const)
    it(`is malformed where it is ${what}`, () => {
      expect(() => read(passedForm('ours', 'req_1').openStream(), text)).to.throw(MalformedStreamError);
    });

  it('stops the process for a third of its reading at most, though it is the longest', () => {
    const response = { ...usual, output: output('wörd '.repeat(13_600), probabilitiesOf(13_600)) };
    const text = event('response.completed', { sequence_number: 9, response });
    expect(text.length).to.be.within(15 * 1024 ** 2, 16 * 1024 ** 2);
    const before = process.threadCpuUsage();
    JSON.stringify(JSON.parse(text.slice(text.indexOf('{'))));
    const ofReading = process.threadCpuUsage(before).user;
    expect(longestStep(Buffer.from(text))).to.be.below(ofReading / 3);
  });
});

/**
 * The longest step in which the stream of one event is read and its end is written, in microseconds of this
 * thread's processor: another program may hold the processor for longer.
 */
function longestStep(bytes: Buffer): number {
  const form = passedForm('ours', 'req_1').openStream();
  let longest = 0;
  const measured = <Result>(work: () => Result): Result => {
    const begun = process.threadCpuUsage();
    const result = work();
    longest = Math.max(longest, process.threadCpuUsage(begun).user);
    return result;
  };
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES)
    measured(() => form.read(bytes.subarray(at, at + CHUNK_BYTES)));
  const end = measured(() => Buffer.from(form.end(READ, CHARGE)));
  expect(end.includes('"credits_charged":1')).to.equal(true);
  return longest;
}
