// Numbers, times and durations as people read them. What is unknown is a dash, never a zero.
import { shownTimeZone } from '../data/preferences.ts';
import { locale, t } from '../texts/index.ts';

export const UNKNOWN = '–';
export const numberFormat = keptFormats(
  (language, options: Intl.NumberFormatOptions) => new Intl.NumberFormat(language, options),
);
/** In the time zone that is shown, unless the options name another. */
export const timeFormat = keptFormats(
  (language, options: Intl.DateTimeFormatOptions) =>
    new Intl.DateTimeFormat(language, { timeZone: shownTimeZone(), ...options }),
);
const ageFormat = keptFormats(
  (language, options: Intl.RelativeTimeFormatOptions) => new Intl.RelativeTimeFormat(language, options),
);

const MINUTE = 60_000;
const HOUR = 3_600_000;
const DAY = 86_400_000;

/** Credits, with all of their decimals. */
export function formatCredits(credits: number | null | undefined): string {
  if (credits === null || credits === undefined) return UNKNOWN;
  return numberFormat({ maximumFractionDigits: 6 }).format(credits);
}

export function formatCount(count: number | null | undefined): string {
  return count === null || count === undefined ? UNKNOWN : numberFormat({}).format(count);
}

export function formatBytes(bytes: number): string {
  const megabytes = bytes / 1e6;
  return `${numberFormat({ maximumFractionDigits: 1 }).format(megabytes)} MB`;
}

export function formatMoment(instant: string | number): string {
  return timeFormat({ dateStyle: 'medium', timeStyle: 'medium' }).format(new Date(instant));
}

export function formatClock(instant: string | number): string {
  return timeFormat({ hour: '2-digit', minute: '2-digit' }).format(new Date(instant));
}

export function formatDay(instant: string | number): string {
  return timeFormat({ day: 'numeric', month: 'short', year: 'numeric' }).format(new Date(instant));
}

/** A period as people write it, such as `20 Nov 2026` or `20 Nov, 09:00–10:00`; `to` lies behind it. */
export function formatRange(from: string, to: string | undefined): string {
  const end = new Date(to ?? Date.now()).getTime() - 1;
  const isWithinDay = end - Date.parse(from) < DAY / 2;
  const format = timeFormat({
    day: 'numeric',
    month: 'short',
    ...(isWithinDay ? { hour: '2-digit', minute: '2-digit' } : { year: 'numeric' }),
  });
  return format.formatRange(new Date(from), new Date(end));
}

export function formatUtc(instant: string): string {
  return `${new Date(instant).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

/** How long ago, in the largest unit that fits. */
export function formatAge(instant: string, now: number): string {
  const age = Math.max(0, now - Date.parse(instant));
  const relative = ageFormat({ numeric: 'always', style: 'narrow' });
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

/**
 * Keeps the formatters that were made, by language, time zone and options: to make one takes longer than a
 * page of figures takes to be written with it.
 */
function keptFormats<Options extends object, Format>(
  make: (language: string, options: Options) => Format,
): (options: Options) => Format {
  const kept = new Map<string, Format>();
  return (options) => {
    const name = [locale(), shownTimeZone(), JSON.stringify(options)].join(' ');
    const format = kept.get(name) ?? make(locale(), options);
    kept.set(name, format);
    return format;
  };
}
