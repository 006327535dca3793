// Numbers, times and durations as people read them. What is unknown is a dash, never a zero.
import { shownTimeZone } from '../data/preferences.ts';
import { locale, t } from '../texts/index.ts';

export const UNKNOWN = '–';
const MINUTE = 60_000;
const HOUR = 3_600_000;
const DAY = 86_400_000;

/** Credits, with all of their decimals. */
export function formatCredits(credits: number | null | undefined): string {
  if (credits === null || credits === undefined) return UNKNOWN;
  return new Intl.NumberFormat(locale(), { maximumFractionDigits: 6 }).format(credits);
}

export function formatCount(count: number | null | undefined): string {
  return count === null || count === undefined ? UNKNOWN : new Intl.NumberFormat(locale()).format(count);
}

export function formatBytes(bytes: number): string {
  const megabytes = bytes / 1e6;
  return `${new Intl.NumberFormat(locale(), { maximumFractionDigits: 1 }).format(megabytes)} MB`;
}

export function formatMoment(instant: string | number): string {
  return new Intl.DateTimeFormat(locale(), {
    dateStyle: 'medium',
    timeStyle: 'medium',
    timeZone: shownTimeZone(),
  }).format(new Date(instant));
}

export function formatClock(instant: string | number): string {
  return new Intl.DateTimeFormat(locale(), {
    hour: '2-digit',
    minute: '2-digit',
    timeZone: shownTimeZone(),
  }).format(new Date(instant));
}

export function formatDay(instant: string | number): string {
  return new Intl.DateTimeFormat(locale(), {
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    timeZone: shownTimeZone(),
  }).format(new Date(instant));
}

/** A period as people write it, such as `20 Nov 2026` or `20 Nov, 09:00–10:00`; `to` lies behind it. */
export function formatRange(from: string, to: string | undefined): string {
  const end = new Date(to ?? Date.now()).getTime() - 1;
  const isWithinDay = end - Date.parse(from) < DAY / 2;
  const format = new Intl.DateTimeFormat(locale(), {
    day: 'numeric',
    month: 'short',
    ...(isWithinDay ? { hour: '2-digit', minute: '2-digit' } : { year: 'numeric' }),
    timeZone: shownTimeZone(),
  });
  return format.formatRange(new Date(from), new Date(end));
}

export function formatUtc(instant: string): string {
  return `${new Date(instant).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

/** How long ago, in the largest unit that fits. */
export function formatAge(instant: string, now: number): string {
  const age = Math.max(0, now - Date.parse(instant));
  const relative = new Intl.RelativeTimeFormat(locale(), { numeric: 'always', style: 'narrow' });
  if (age < 10_000) return t.times.now;
  if (age < MINUTE) return relative.format(-Math.floor(age / 1000), 'second');
  if (age < HOUR) return relative.format(-Math.floor(age / MINUTE), 'minute');
  if (age < DAY) return relative.format(-Math.floor(age / HOUR), 'hour');
  if (age < 7 * DAY) return relative.format(-Math.floor(age / DAY), 'day');
  return formatDay(instant);
}

/** A duration such as `80 ms`, `0.8 s`, `42 s`, `3 min 5 s`. */
export function formatDuration(milliseconds: number): string {
  const { seconds, minutes, hours } = t.times;
  if (milliseconds < 100) return `${Math.round(milliseconds)} ms`;
  if (milliseconds < 9_950) return seconds((milliseconds / 1000).toFixed(1));
  const whole = Math.round(milliseconds / 1000);
  if (whole < 60) return seconds(String(whole));
  if (whole < 3600) return minutes(Math.floor(whole / 60), whole % 60);
  return hours(Math.floor(whole / 3600), Math.floor((whole % 3600) / 60));
}
