// The draft of an order, kept in this tab, so that a reload or the end of a session loses nothing.

export interface InputImage {
  /** An https URL, or a data URI. */
  url: string;
  /** Address of a small picture of it; null for one that is not loaded here. */
  preview: string | null;
  bytes: number;
}

export interface InputVideo {
  /** An https URL, or the link of an upload. */
  url: string;
  name: string;
}

/**
 * `frames`: the first frame, or the first and the last one. `beside`: the first image is the first frame, the
 * others are references.
 */
export type ImageUse = 'frames' | 'references' | 'last' | 'beside';

export interface Draft {
  prompt: string;
  count: number;
  resolution: string;
  ratio: string;
  seconds: number;
  audio: boolean;
  answerTokens: number;
  images: readonly InputImage[];
  /** What the input images of a video are for, as far as the model and their number permit. */
  role: ImageUse;
  videos: readonly InputVideo[];
  /** As it was typed; empty: the vendor chooses. */
  seed: string;
  negativePrompt: string;
  /** Empty: what the model has by itself. */
  quality: string;
  watermark: boolean;
  promptExtend: boolean;
}

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
