// Reads one long answer and writes it as its caller gets it, in a thread that `long-answers.ts` starts.
import { randomUUID } from 'node:crypto';
import { createJsonScan } from '../../domain/json-scan.ts';
import type { WholeForm } from '../chat/answer-form.ts';
import type { WholeFormSource } from '../chat/whole-reading.ts';
import { wholeChat } from '../chat/chat-form.ts';
import { parseAnswer } from '../chat/parse-answer.ts';
import { wholePassed } from '../responses/passed-form.ts';
import { wholeTranslated } from '../responses/translated-form.ts';

/** The answer; its JSON stands around the place of the usage, which is known once it is charged. */
export interface ThreadAnswer {
  reported: unknown;
  billableText: string;
  before: string;
  after: string;
}

/**
 * 16,000 tokens with twenty alternatives each have 3.7 million values. As many of the dearest kind, objects
 * with names of their own, take 400 MB and seconds.
 */
const LONG_ANSWER_VALUES_MAX = 4_000_000;
const BOUNDS = { depthMax: 100, valuesMax: LONG_ANSWER_VALUES_MAX, fieldsMax: 1_000 };

/** Longer usage is none: a usage has some twenty numbers. */
const USAGE_CHARACTERS_MAX = 16 * 1024;

/** Null for what is no answer, or has more values than any. */
export default function read(task: { bytes: Uint8Array; source: WholeFormSource }): ThreadAnswer | null {
  const { source } = task;
  const bytes = Buffer.from(task.bytes.buffer, task.bytes.byteOffset, task.bytes.byteLength);
  if (createJsonScan(BOUNDS)(bytes) !== null) return null;
  const form = formOf(source);
  const answer = parseAnswer(bytes, form);
  if (!answer) return null;
  const usage = form.usageOf(answer);
  const isUsage = JSON.stringify(usage ?? null).length <= USAGE_CHARACTERS_MAX;
  const billableText = form.billableTextOf(answer);
  const place = randomUUID();
  const text = JSON.stringify(form.present(answer, place));
  const at = text.indexOf(`"${place}"`);
  if (at < 0) throw new Error('an answer was written without its usage');
  return {
    reported: isUsage ? usage : null,
    billableText,
    before: text.slice(0, at),
    after: text.slice(at + place.length + 2),
  };
}

function formOf(source: WholeFormSource): WholeForm {
  switch (source.kind) {
    case 'chat':
      return wholeChat(source);
    case 'passed':
      return wholePassed(source);
    case 'translated':
      return wholeTranslated(source);
  }
}
