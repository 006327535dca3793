// Keeps the draft of an order in this tab, so that a reload or the end of a session loses nothing.
import type { Draft, InputImage } from '../pages/create/draft.ts';

export interface KeptDraft {
  model: string;
  draft: Draft;
}

const KEPT_UNDER = 'svc-console-draft';
/** Browsers give a page about five million characters; pictures beyond this are not kept. */
const CHARACTERS_MAX = 3_000_000;

/** The draft that this user left; null without one. */
export function readDraft(userId: string): KeptDraft | null {
  try {
    const kept: (KeptDraft & { userId: string }) | null = JSON.parse(
      sessionStorage.getItem(KEPT_UNDER) ?? 'null',
    );
    if (kept?.userId !== userId) return null;
    const images = kept.draft.images.map((image) => ({ ...image, preview: previewOf(image) }));
    return { model: kept.model, draft: { ...kept.draft, images } };
  } catch {
    return null;
  }
}

export function keepDraft(userId: string, { model, draft }: KeptDraft): void {
  try {
    const whole = JSON.stringify({ userId, model, draft });
    const text =
      whole.length <= CHARACTERS_MAX
        ? whole
        : JSON.stringify({ userId, model, draft: { ...draft, images: [] } });
    sessionStorage.setItem(KEPT_UNDER, text);
  } catch {
    // Without storage the draft lives as long as the page.
  }
}

export function forgetDraft(): void {
  try {
    sessionStorage.removeItem(KEPT_UNDER);
  } catch {
    // There is none.
  }
}

/** A picture of a data URI; addresses of pictures end with the page that made them. */
function previewOf({ url }: InputImage): string | null {
  const [head = '', base64 = ''] = url.split(',');
  if (!head.startsWith('data:')) return null;
  const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  return URL.createObjectURL(new Blob([bytes], { type: head.slice(5).split(';')[0] ?? '' }));
}
