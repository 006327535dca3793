// Reads the input images of an order: a list under one of two names, or the frames of a video one by one.
import { GatewayError } from '../../domain/errors.ts';

interface OrderedImages {
  /** The field that the caller sent; for a video, it also says what the images are for. */
  name: string;
  images: string[];
}

interface OrderedVideoImages extends OrderedImages {
  /** Where the fields say more than the name of the list does. */
  role?: 'last_frame' | 'first_frame_and_references';
}

interface ImageFields {
  image_urls?: string[] | undefined;
  reference_images?: string[] | undefined;
}

const FRAMES = ['metadata.first_frame', 'metadata.last_frame'] as const;

/** Merges the two names of the list. Throws 400 when both are sent and differ. */
export function readInputImages({
  image_urls: urls,
  reference_images: references,
}: ImageFields): OrderedImages {
  if (urls && references && !isSameList(urls, references)) throw conflict('image_urls', 'reference_images');
  return references && !urls
    ? { name: 'reference_images', images: references }
    : { name: 'image_urls', images: urls ?? [] };
}

/**
 * The list, or frames that are named one by one: in its place, or a first one beside references. Throws 400
 * when both are sent otherwise.
 */
export function readVideoImages(
  body: ImageFields & {
    metadata?: { first_frame?: string | undefined; last_frame?: string | undefined } | undefined;
  },
): OrderedVideoImages {
  const listed = readInputImages(body);
  const { first_frame: first, last_frame: last } = body.metadata ?? {};
  if (first === undefined && last === undefined) return listed;
  if (first !== undefined && last === undefined && isReferences(listed))
    return { ...listed, images: [first, ...listed.images], role: 'first_frame_and_references' };
  if (listed.images.length > 0) throw conflict(listed.name, first === undefined ? FRAMES[1] : FRAMES[0]);
  if (first === undefined)
    return { name: FRAMES[1], images: last === undefined ? [] : [last], role: 'last_frame' };
  return { name: FRAMES[0], images: last === undefined ? [first] : [first, last] };
}

/** Each image with the path of its field, for refusals. */
export function nameImages({ name, images, role }: OrderedVideoImages): { url: string; param: string }[] {
  const before = role === 'first_frame_and_references' ? 1 : 0;
  return images.map((url, index) => {
    if (index < before) return { url, param: FRAMES[0] };
    const frame = name === FRAMES[1] ? FRAMES[1] : FRAMES[index];
    return { url, param: isFrame(name) && frame ? frame : `${name}[${index - before}]` };
  });
}

export function conflict(name: string, other: string): GatewayError {
  const message = `${name} and ${other} mean the same; send one of them.`;
  return new GatewayError('conflicting_params', { param: other, message });
}

function isReferences({ name, images }: OrderedImages): boolean {
  return name === 'reference_images' && images.length > 0;
}

function isFrame(name: string): boolean {
  return FRAMES.some((frame) => frame === name);
}

/** Not by their JSON, which would be written for megabytes of images. */
function isSameList(some: readonly string[], others: readonly string[]): boolean {
  return some.length === others.length && some.every((entry, index) => entry === others[index]);
}
