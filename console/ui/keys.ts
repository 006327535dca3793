// Tells shortcuts of single letters from typing.
import { preferences } from '../data/preferences.ts';

/** Whether a single letter is meant as a shortcut, and not as text. */
export function isShortcut(event: KeyboardEvent): boolean {
  if (!preferences.get().hasShortcuts || event.ctrlKey || event.metaKey || event.altKey) return false;
  const { target } = event;
  if (
    target instanceof HTMLElement &&
    target.matches('input:not([type=checkbox]), textarea, select, [contenteditable]')
  )
    return false;
  return document.querySelector('dialog[open]') === null;
}
