// How much text one read of many tasks takes: a conversation has megabytes.
import { sql } from '@mikro-orm/postgresql';

/**
 * Bytes of prompts and answers after which a read takes no further task. They are written as JSON at once, in
 * which no other request goes on, and a stream keeps four megabytes for its reader
 * (`api/events/event-stream.ts`).
 */
export const TEXT_BYTES_MAX = 2 * 1024 * 1024;

/** The bytes of the task `t` with its request `q`, as they are stored. */
export const TEXT_BYTES = sql`coalesce(octet_length(q.prompt), 0) + coalesce(octet_length(t.output_text), 0)`;
