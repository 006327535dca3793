// Checks the `content` of a Seedance order: one text, and frames or references, never both.

import { refuseField } from '../field-checks.ts';
import { checkImageFile } from '../image-files.ts';
import { type Fields, isFields } from '../requests.ts';
import type { SandboxRequest } from '../vendor-api.ts';

export interface Inputs {
  /** The role of each image. */
  readonly images: readonly string[];
  readonly videos: number;
}

export interface ContentLimits {
  readonly images: number;
  readonly videos: number;
  readonly lastFrame: boolean;
}

const IMAGE_FILES = { bytesMax: 30_000_000, sidePixelsMin: 300, sidePixelsMax: 6_000, sidesRatioMax: 2.5 };

const ROLES: Readonly<Record<string, readonly string[]>> = {
  image_url: ['first_frame', 'last_frame', 'reference_image'],
  video_url: ['reference_video'],
  audio_url: ['reference_audio'],
};

/** The texts of the content, which may not have been checked yet. */
export function textsOf(content: unknown): string {
  const items: unknown[] = Array.isArray(content) ? content : [];
  const texts = items.map((item) => (isFields(item) ? item['text'] : undefined));
  return texts.filter((text) => typeof text === 'string').join(' ');
}

export function readContent(request: SandboxRequest, content: unknown, limits: ContentLimits): Inputs {
  if (!Array.isArray(content) || content.length === 0)
    refuseField(request, 'content', 'content must be a list.');
  const items: Fields[] = content.filter(isFields);
  if (items.length < content.length)
    refuseField(request, 'content', 'Every item of content must be an object.');
  items.forEach((item, index) => checkItem(request, item, `content[${index}]`));
  const images = items.filter(({ type }) => type === 'image_url').map(({ role }) => String(role));
  const videos = items.filter(({ type }) => type === 'video_url').length;
  const hasText = items.some(({ type }) => type === 'text');
  if (!hasText && images.length + videos === 0) refuseField(request, 'content', 'content needs a text.');
  checkFrames(request, images, videos, limits);
  return { images, videos };
}

function checkFrames(
  request: SandboxRequest,
  images: readonly string[],
  videos: number,
  limits: ContentLimits,
): void {
  const references = images.filter((role) => role === 'reference_image').length;
  const first = images.filter((role) => role === 'first_frame').length;
  const last = images.filter((role) => role === 'last_frame').length;
  if (first + last > 0 && references + videos > 0) {
    refuseField(request, 'content', 'first/last frame content cannot be mixed with reference media content.');
  }
  if (first > 1 || last > 1 || (last === 1 && first === 0)) {
    refuseField(request, 'content', 'There may be one first frame, and one last frame beside it.');
  }
  if (last === 1 && !limits.lastFrame) refuseField(request, 'content', 'This model takes no last frame.');
  if (references > limits.images)
    refuseField(request, 'content', `At most ${limits.images} reference images.`);
  if (videos > limits.videos) refuseField(request, 'content', `At most ${limits.videos} reference videos.`);
}

function checkItem(request: SandboxRequest, item: Fields, path: string): void {
  const type = String(item['type']);
  if (type === 'text') {
    if (typeof item['text'] !== 'string') refuseField(request, `${path}.text`, 'The text must be a string.');
    return;
  }
  const roles = ROLES[type] ?? refuseField(request, `${path}.type`, `Unknown type of content: ${type}.`);
  const media = item[type];
  const url = isFields(media) ? media['url'] : undefined;
  if (typeof url !== 'string' || !/^(https?:\/\/|data:|asset:\/\/)/.test(url)) {
    refuseField(request, `${path}.${type}.url`, 'The URL must be a link, a data URI or an asset.');
  }
  if (type === 'image_url') checkImageFile(request, `${path}.${type}.url`, url, IMAGE_FILES);
  if (!roles.includes(String(item['role']))) {
    refuseField(request, `${path}.role`, `The role must be one of ${roles.join(', ')}.`);
  }
}
