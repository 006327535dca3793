// How an answer that is not streamed is read: by what form, and what comes of it.
import type { ResponsesBody } from '../responses/responses-body.ts';

/**
 * `model`: the id of the catalogue's model. `request`: one of Responses, whose upstream knows chat
 * completions only.
 */
export type WholeFormSource =
  | { kind: 'chat' | 'passed'; model: string }
  | { kind: 'translated'; model: string; request: ResponsesBody };

/** An answer that was read, as its billing and its caller need it. */
export interface WholeAnswer {
  /** The usage that the upstream reported; anything else where there is none. */
  reported: unknown;
  /** All text that the model wrote, for counting. */
  billableText: () => string;
  /** The body for the caller with this usage: an object, or its JSON. */
  body: (usage: object) => object | string;
}

/** Reads an answer beside what else the process does. Null for what is none, or has too many values. */
export type ReadLongAnswer = (bytes: Uint8Array, source: WholeFormSource) => Promise<WholeAnswer | null>;
