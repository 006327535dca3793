// All texts in the chosen language, for pages that load on demand. Those in English come with the first page
// of them.
import { enPages, type Texts } from './en-pages.ts';
import { en } from './en.ts';
import { loadedLanguage, translated } from './index.ts';

const english: Texts = { ...en, ...enPages };

/** The texts. Read it while drawing, so that a change of language reaches every text. */
export let t: Texts = translated ?? english;
loadedLanguage.watch(() => void (t = translated ?? english));

/** An action of the audit log in words: `LOG_IN` as `Log in`. */
export function nameOfAction(action: string): string {
  const words = action.toLowerCase().replaceAll('_', ' ');
  return t.actions[action as keyof Texts['actions']] ?? words.charAt(0).toUpperCase() + words.slice(1);
}
