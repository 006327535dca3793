// The texts in the chosen language, as far as every page needs them: `pages.ts` has those of the others, too.
// English comes with the page, Chinese when it is chosen.
import { preferences, type Language } from '../data/preferences.ts';
import { createStore } from '../data/store.ts';
import type { Texts } from './en-pages.ts';
import { en, type FirstTexts } from './en.ts';

/** The language whose texts are loaded; the whole page is drawn anew when it changes. */
export const loadedLanguage = createStore<Language>('en');

/** All texts of the language, where it is another than English; null for English. */
export let translated: Texts | null = null;

/** The texts. Read it while drawing, so that a change of language reaches every text. */
export let t: FirstTexts = en;

/** Loads the texts of the language that is chosen. */
export async function loadTexts(): Promise<void> {
  const { language } = preferences.get();
  if (language === loadedLanguage.get()) return;
  translated = language === 'zh' ? (await import('./zh.ts')).zh : null;
  t = translated ?? en;
  document.documentElement.lang = language === 'zh' ? 'zh-CN' : 'en';
  loadedLanguage.set(language);
}

/** The language for numbers and dates. */
export function locale(): string {
  return loadedLanguage.get() === 'zh' ? 'zh-CN' : 'en-GB';
}

/** A sentence about an error: ours for its code, else the API's. */
export function sentenceOf(error: { code: string; message: string }): string {
  return t.errors[error.code as keyof FirstTexts['errors']] ?? error.message;
}
