// Signed links to the results of tasks. A result's path is its storage key: `/results/task_…/1/0.png`.
import { signUrl } from './signed-urls.ts';

export interface ResultLinkSettings {
  /** The address of this service as callers know it, possibly with a path. */
  publicUrl: string;
  /** For signing, newest first. */
  keys: readonly string[];
  /** Least life of a link. */
  resultUrlSeconds: number;
}

/** Parts of its life during which a link stays the same, so that browsers keep what they have loaded. */
const STEPS_OF_LIFE = 4;

/** Creates a link to a result, valid for the configured time from `now`. */
export function signResultUrl(settings: ResultLinkSettings, key: string, now: Date): string {
  const { publicUrl, keys, resultUrlSeconds } = settings;
  const stepSeconds = Math.ceil(resultUrlSeconds / STEPS_OF_LIFE);
  const lastSecond = now.getTime() / 1000 + resultUrlSeconds;
  const expiresAt = new Date(Math.ceil(lastSecond / stepSeconds) * stepSeconds * 1000);
  return signUrl({ publicUrl, path: `/${key}`, expiresAt, keys });
}
