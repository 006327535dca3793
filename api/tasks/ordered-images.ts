// Reads the input images of an order: a list under one of two names, or the frames of a video one by one.
import { GatewayError } from '../../domain/errors.ts';

interface OrderedImages {
  /** The field that the caller sent; for a video, it also says what the images are for. */
  name: string;
  images: string[];
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

/** The list, or frames that are named one by one in its place. Throws 400 when both are sent. */
export function readVideoImages(
  body: ImageFields & {
    metadata?: { first_frame?: string | undefined; last_frame?: string | undefined } | undefined;
  },
): OrderedImages {
  const listed = readInputImages(body);
  const { first_frame: first, last_frame: last } = body.metadata ?? {};
  if (first === undefined && last === undefined) return listed;
  if (listed.images.length > 0) throw conflict(listed.name, FRAMES[0]);
  if (first === undefined) {
    const message = `${FRAMES[0]} is required beside ${FRAMES[1]}.`;
    throw new GatewayError('missing_field', { param: FRAMES[0], message });
  }
  return { name: FRAMES[0], images: last === undefined ? [first] : [first, last] };
}

/** Each image with the path of its field, for refusals. */
export function nameImages(name: string, images: readonly string[]): { url: string; param: string }[] {
  return images.map((url, index) => {
    return { url, param: (name === FRAMES[0] ? FRAMES[index] : undefined) ?? `${name}[${index}]` };
  });
}

export function conflict(name: string, other: string): GatewayError {
  const message = `${name} and ${other} mean the same; send one of them.`;
  return new GatewayError('conflicting_params', { param: other, message });
}

/** Not by their JSON, which would be written for megabytes of images. */
function isSameList(some: readonly string[], others: readonly string[]): boolean {
  return some.length === others.length && some.every((entry, index) => entry === others[index]);
}
