// The texts of the console in the chosen language. English comes with the page, Chinese when it is chosen.
import { preferences, type Language } from '../data/preferences.ts';
import { createStore } from '../data/store.ts';
import { en, type Texts } from './en.ts';

/** The language whose texts are loaded; the whole page is drawn anew when it changes. */
export const loadedLanguage = createStore<Language>('en');

/** The texts. Read it while drawing, so that a change of language reaches every text. */
export let t: Texts = en;

/** Loads the texts of the language that is chosen. */
export async function loadTexts(): Promise<void> {
  const { language } = preferences.get();
  if (language === loadedLanguage.get()) return;
  t = language === 'zh' ? (await import('./zh.ts')).zh : en;
  document.documentElement.lang = language === 'zh' ? 'zh-CN' : 'en';
  loadedLanguage.set(language);
}

/** The language for numbers and dates. */
export function locale(): string {
  return loadedLanguage.get() === 'zh' ? 'zh-CN' : 'en-GB';
}

/** A sentence about an error: ours for its code, else the API's. */
export function sentenceOf(error: { code: string; message: string }): string {
  return t.errors[error.code as keyof Texts['errors']] ?? error.message;
}
