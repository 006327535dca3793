// The draft of an order, and what of it the model offers: choices that do not go together are not offered.
import type { ShownModel } from '../../data/queries.ts';
import type { Draft, ImageUse } from '../../data/kept-draft.ts';
import type { TaskOrder } from '../../data/types.ts';

type Role =
  | 'none'
  | 'first_frame'
  | 'last_frame'
  | 'first_and_last_frame'
  | 'references'
  | 'first_frame_and_references';

const USES: Readonly<Record<Role, ImageUse>> = {
  none: 'frames',
  first_frame: 'frames',
  last_frame: 'last',
  first_and_last_frame: 'frames',
  references: 'references',
  first_frame_and_references: 'beside',
};

export interface Offer {
  resolutions: readonly string[];
  ratios: readonly string[];
  seconds: readonly number[];
  audio: readonly boolean[];
  countMax: number;
  imagesMin: number;
  imagesMax: number;
  videosMax: number;
  /** What as many input images as there are may be for; the one in force is `use`. */
  uses: readonly ImageUse[];
  use: ImageUse;
}

export const EMPTY_DRAFT: Draft = {
  ...{ prompt: '', count: 1, resolution: '', ratio: '', seconds: 0, audio: true, answerTokens: 0 },
  ...{ images: [], role: 'frames', videos: [], seed: '', negativePrompt: '', quality: '' },
  ...{ watermark: false, promptExtend: true },
};
/** Stands for each input image while a price is asked for: any size and form would do. */
const ANY_IMAGE_URL = 'https://example.com/image.png';

/** What of a model decides. */
type Choosable = Pick<ShownModel, 'id' | 'kind' | 'limits'>;

/** What the model offers beside what the draft has so far. */
export function offerOf({ kind, limits }: Choosable, draft: Draft): Offer {
  const role = roleOf(limits, draft);
  const hasVideo = draft.videos.length > 0;
  const ofRole = (limits.combinations ?? []).filter(
    (one) => (one.imageRole ?? role) === role && (one.inputVideo ?? hasVideo) === hasVideo,
  );
  const general = ofRole.filter(({ resolution }) => resolution === undefined);
  const fitting = ofRole.filter(({ resolution }) => (resolution ?? draft.resolution) === draft.resolution);
  const resolutions = (limits.resolutions ?? []).filter((value) =>
    general.every((one) => one.resolutions?.includes(value) ?? true),
  );
  const seconds = listSeconds(limits.durations).filter((value) =>
    fitting.every((one) => one.durations === undefined || listSeconds(one.durations).includes(value)),
  );
  const audio = (limits.audio ?? []).filter((value) =>
    fitting.every((one) => one.audio?.includes(value) ?? true),
  );
  return {
    resolutions,
    ratios: limits.ratios ?? [],
    seconds,
    audio,
    countMax: limits.imagesMax ?? 1,
    imagesMin: limits.inputImagesMin ?? 0,
    imagesMax: limits.inputImagesMax ?? 0,
    videosMax: Math.min(limits.inputVideosMax ?? 0, ...fitting.map((one) => one.inputVideosMax ?? 99)),
    uses: kind === 'video' ? usesOf(limits, draft.images.length) : [],
    use: USES[role],
  };
}

/** Changes fields of the draft; a function is given it as it is by then. */
export type ChangeDraft = (changes: Partial<Draft> | ((draft: Draft) => Partial<Draft>)) => void;

/** Moves every choice that the model does not offer to the nearest one that it does. */
export function fitDraft(model: ShownModel, draft: Draft): Draft {
  const first = offerOf(model, draft);
  const resolution = nearest(first.resolutions, draft.resolution);
  const offer = offerOf(model, { ...draft, resolution });
  return {
    ...draft,
    resolution,
    ratio: nearest(offer.ratios, draft.ratio),
    seconds: nearestNumber(offer.seconds, draft.seconds || 5),
    audio: offer.audio.includes(draft.audio) ? draft.audio : (offer.audio[0] ?? true),
    count: Math.min(Math.max(1, draft.count), offer.countMax),
    images: draft.images.slice(0, offer.imagesMax),
    videos: draft.videos.slice(0, offer.videosMax),
    quality: model.limits.options?.quality?.includes(draft.quality) ? draft.quality : '',
  };
}

/** The order to send. For a price, one address replaces each input image: only their number counts. */
export function orderOf(
  { id: model, kind: mode, limits }: Choosable,
  draft: Draft,
  isForPrice = false,
): TaskOrder {
  const prompt = isForPrice && mode !== 'text' ? '…' : draft.prompt.trim() || '…';
  if (mode === 'text')
    return { mode, model, prompt, ...(draft.answerTokens > 0 && { max_tokens: draft.answerTokens }) };
  const urls = draft.images.map(({ url }) => (isForPrice ? ANY_IMAGE_URL : url));
  const role = mode === 'video' ? roleOf(limits, draft) : 'none';
  const common = {
    model,
    prompt,
    ...(draft.resolution && { resolution: draft.resolution }),
    ...(draft.ratio && { size: draft.ratio }),
    ...imagesOf(role, urls),
  };
  const metadata = metadataOf(limits, draft, framesOf(role, urls));
  if (mode === 'image') return { mode, ...common, n: draft.count, ...(metadata && { metadata }) };
  return {
    mode,
    ...common,
    ...(draft.seconds > 0 && { duration: draft.seconds }),
    ...(metadata && { metadata }),
    ...(draft.videos.length > 0 && { video_urls: draft.videos.map(({ url }) => url) }),
  };
}

/** The options of the model that the draft uses; null without any. */
function metadataOf({ audio, options }: ShownModel['limits'], draft: Draft, frames: object) {
  const seed = Number(draft.seed);
  const isSeed = options?.seed !== undefined && draft.seed.trim() !== '' && Number.isFinite(seed);
  const metadata = {
    ...frames,
    ...(audio && { audio: draft.audio }),
    ...(isSeed && { seed }),
    ...(options?.negativePrompt &&
      draft.negativePrompt.trim() && { negative_prompt: draft.negativePrompt.trim() }),
    ...(options?.quality && draft.quality && { quality: draft.quality }),
    ...(options?.watermark && draft.watermark && { watermark: true }),
    ...(options?.promptExtension && !draft.promptExtend && { prompt_extend: false }),
  };
  return Object.keys(metadata).length > 0 ? metadata : null;
}

/** The input images that stand in a field of their own. */
function imagesOf(role: Role, urls: string[]) {
  if (urls.length === 0 || role === 'last_frame') return {};
  if (role === 'references') return { reference_images: urls };
  return role === 'first_frame_and_references' ? { reference_images: urls.slice(1) } : { image_urls: urls };
}

/** The frames that are named one by one. */
function framesOf(role: Role, [url]: readonly string[]) {
  if (role === 'last_frame') return { last_frame: url };
  return role === 'first_frame_and_references' ? { first_frame: url } : {};
}

/** What so many input images of a video may be for. */
function usesOf(limits: ShownModel['limits'], images: number): ImageUse[] {
  const { frameImagesMax = 1, referenceImagesMax = 0, inputImagesMax = 0 } = limits;
  if (images === 0) return [];
  const beside = limits.frameBesideReferences ? Math.min(referenceImagesMax, inputImagesMax - 1) : 0;
  return [
    ...(images <= frameImagesMax ? (['frames'] as const) : []),
    ...(limits.lastFrameAlone && images === 1 ? (['last'] as const) : []),
    ...(images <= referenceImagesMax ? (['references'] as const) : []),
    ...(images >= 2 && images - 1 <= beside ? (['beside'] as const) : []),
  ];
}

function roleOf(limits: ShownModel['limits'], { images, role }: Draft): Role {
  const uses = usesOf(limits, images.length);
  const use = uses.includes(role) ? role : (uses[0] ?? 'references');
  if (images.length === 0) return 'none';
  if (use === 'last') return 'last_frame';
  if (use === 'references') return 'references';
  if (use === 'beside') return 'first_frame_and_references';
  return images.length === 1 ? 'first_frame' : 'first_and_last_frame';
}

function listSeconds(durations: ShownModel['limits']['durations']): number[] {
  if (!durations) return [];
  if ('values' in durations) return durations.values;
  return Array.from({ length: durations.max - durations.min + 1 }, (_, step) => durations.min + step);
}

function nearest(offered: readonly string[], wanted: string): string {
  return offered.includes(wanted)
    ? wanted
    : (offered.find((value) => value === '16:9' || value === '1:1' || value === '720p') ?? offered[0] ?? '');
}

function nearestNumber(offered: readonly number[], wanted: number): number {
  return offered.toSorted((one, other) => Math.abs(one - wanted) - Math.abs(other - wanted))[0] ?? 0;
}
