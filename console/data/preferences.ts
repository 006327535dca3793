// How this browser shows the console: theme, language, time zone, shortcuts. Kept in the browser alone.
import { ROOT } from './addresses.ts';
import { createStore } from './store.ts';

export type Theme = 'system' | 'light' | 'dark';
export type Language = 'en' | 'zh';

export interface Preferences {
  theme: Theme;
  language: Language;
  /** An IANA name; empty for that of the system. */
  timeZone: string;
  hasShortcuts: boolean;
  tasksView: 'table' | 'grid';
}

const KEPT_UNDER = 'svc-console';
const YEAR_SECONDS = 31_536_000;
/** Read once, since it is slow to read: the whole page keeps to one zone until it is loaded again. */
export const SYSTEM_TIME_ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone;

export const preferences = createStore<Preferences>(read());

export function setPreference<Name extends keyof Preferences>(name: Name, value: Preferences[Name]): void {
  const next = { ...preferences.get(), [name]: value };
  try {
    localStorage.setItem(KEPT_UNDER, JSON.stringify(next));
  } catch {
    // Without storage the choice holds until the page is closed.
  }
  if (name === 'theme' || name === 'language') keepCookie(`svc_${name}`, String(value));
  preferences.set(next);
  applyTheme(next.theme);
}

/** The time zone to show times in. */
export function shownTimeZone(): string {
  return preferences.get().timeZone || SYSTEM_TIME_ZONE;
}

/** The page itself is written with these two, so that nothing flashes before the first script runs. */
function keepCookie(name: string, value: string): void {
  document.cookie = `${name}=${value}; Path=${ROOT}; Max-Age=${YEAR_SECONDS}; SameSite=Lax`;
}

function applyTheme(theme: Theme): void {
  document.documentElement.dataset['theme'] = theme;
}

function read(): Preferences {
  const { dataset, lang } = document.documentElement;
  const kept = readKept();
  return {
    timeZone: '',
    hasShortcuts: true,
    tasksView: 'table',
    ...kept,
    theme: (dataset['theme'] as Theme | undefined) ?? 'system',
    language: chooseLanguage(lang, kept.language),
  };
}

function chooseLanguage(ofPage: string, kept: Language | undefined): Language {
  if (ofPage === 'zh' || kept === 'zh') return 'zh';
  if (kept === 'en') return 'en';
  return navigator.language.toLowerCase().startsWith('zh') ? 'zh' : 'en';
}

function readKept(): Partial<Preferences> {
  try {
    return JSON.parse(localStorage.getItem(KEPT_UNDER) ?? '{}');
  } catch {
    return {};
  }
}
