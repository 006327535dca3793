// What every event of a streamed answer repeats: the answer's id, its time, and the model's name.

/** What the events of one answer have in common. */
export interface AnswerHead {
  id: string;
  /** Unix seconds. */
  created: number;
}

const HAS_ID = /"id"\s*:\s*"[^"]/;
const MODEL = /"model"\s*:\s*"(?:[^"\\]|\\.)*"/g;

/** Reads the head off the first of these events that has an id; null when none has. */
export function readHead(events: string): AnswerHead | null {
  if (!HAS_ID.test(events)) return null;
  for (const line of events.split('\n')) {
    const head = line.startsWith('data:') ? headOf(line.slice('data:'.length)) : null;
    if (head) return head;
  }
  return null;
}

/**
 * Names the catalogue's model in the events, in place of what the upstream calls it. A model's own words are
 * inside of JSON strings, where quotes are escaped, so that they do not match.
 */
export function renameModel(events: string, id: string): string {
  return events.replace(MODEL, () => `"model":${JSON.stringify(id)}`);
}

function headOf(json: string): AnswerHead | null {
  try {
    const event: unknown = JSON.parse(json);
    if (typeof event !== 'object' || event === null) return null;
    const id: unknown = Reflect.get(event, 'id');
    const created: unknown = Reflect.get(event, 'created');
    if (typeof id !== 'string' || id === '') return null;
    const isTime = typeof created === 'number' && created > 0;
    return { id, created: isTime ? created : Math.trunc(Date.now() / 1000) };
  } catch {
    return null;
  }
}
