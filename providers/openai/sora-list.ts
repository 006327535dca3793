// Finds a lost job in the list of OpenAI's Videos API, which shows everything that was ordered but the
// pictures.
import type { UpstreamJob } from '../provider.ts';
import { listOf, membersOf, numberOf, textOf, type Members } from '../http/json-fields.ts';
import { orderedFields } from './sora-order.ts';

/** The vendor's maximum per page. */
export const LIST_ENTRIES_MAX = 100;

/** How far the vendor's clock may be from ours, and how late a request may arrive. */
const CREATED_BEFORE_SECONDS_MAX = 10;
const CREATED_AFTER_SECONDS_MAX = 120;

/**
 * The one entry that can be this job, or null: when there is none, when there are two, and when the page ends
 * before the time in question does, so that another one may follow.
 */
export function matchListed(list: Members, job: UpstreamJob, sentAt: Date): Members | null {
  const entries = listOf(list['data']).map(membersOf);
  const sentAtSeconds = sentAt.getTime() / 1000;
  const from = sentAtSeconds - CREATED_BEFORE_SECONDS_MAX;
  const until = sentAtSeconds + CREATED_AFTER_SECONDS_MAX;
  const times = entries.map((entry) => numberOf(entry['created_at']) ?? from);
  const isFull = list['has_more'] === true || entries.length >= LIST_ENTRIES_MAX;
  if (isFull && times.every((time) => time >= from)) return null;
  const matches = entries.filter((entry) => {
    const createdAt = numberOf(entry['created_at']) ?? Infinity;
    return createdAt >= from && createdAt <= until && matchesJob(entry, job);
  });
  const [match] = matches;
  return matches.length === 1 && match ? match : null;
}

/** Whether the entry shows what was ordered, member by member. */
function matchesJob(entry: Members, job: UpstreamJob): boolean {
  const { model, prompt, seconds, size } = orderedFields(job);
  const listedSeconds = textOf(entry['seconds']) ?? String(numberOf(entry['seconds']));
  return (
    entry['model'] === model &&
    entry['prompt'] === prompt &&
    listedSeconds === seconds &&
    entry['size'] === size &&
    (entry['remixed_from_video_id'] ?? null) === null
  );
}
