// Input images as callers send them: an https URL of a public host, or a data URI that holds an image.
import { GatewayError } from '../errors.ts';
import { URL_CHARACTERS_MAX } from '../urls.ts';
import { sniffMediaType } from './media-types.ts';

/** As many as any model of the catalogue takes; the model's own limit is checked with its order. */
export const INPUT_IMAGES_MAX = 30;
const IMAGE_BYTES_MAX = 20 * 1024 * 1024;
const HEAD_CHARACTERS = 88; // 66 bytes: enough to recognise an image
/**
 * What every reader of URLs reads alike. URL drops line breaks and takes a backslash for a slash; in
 * `https://a.example\@10.0.0.1` others take `10.0.0.1` for the host.
 */
const UNAMBIGUOUS = /^https:\/\/[^\s\\/?#]+(?:[/?#][^\t\n\r]*)?$/i;

/** Throws a GatewayError that names the entry. Nothing is fetched here. */
export function checkInputImages(images: readonly string[], param: string): void {
  if (images.length > INPUT_IMAGES_MAX)
    throw new GatewayError('invalid_value', {
      param,
      message: `${param} may have at most ${INPUT_IMAGES_MAX} entries.`,
    });
  for (const [index, image] of images.entries()) checkInputImage(image, `${param}[${index}]`);
}

/** Checks one image as `checkInputImages` does; `param` is the path of its field. */
export function checkInputImage(image: string, param: string): void {
  if (/^data:/i.test(image)) checkDataUri(image, param);
  else checkUrl(image, param);
}

/**
 * Whether a URL may be handed to a vendor, who reads it anew: https, a public name, no user info. An address
 * in numbers is no name.
 */
export function isAllowedUrl(text: string): boolean {
  if (text.length > URL_CHARACTERS_MAX || !UNAMBIGUOUS.test(text) || !URL.canParse(text)) return false;
  const { protocol, hostname, username, password, port } = new URL(text);
  const isName = /^(?=.*\.)[a-z0-9.-]*[a-z][a-z0-9-]*$/.test(hostname) && !/\.\d+$/.test(hostname);
  const isInternal = /(^|\.)(local|internal|localhost|localdomain|home\.arpa)$/.test(hostname);
  return protocol === 'https:' && username === '' && password === '' && port === '' && isName && !isInternal;
}

/** Whether a text is meant as a URL, of whatever scheme. URL ignores white space and controls around it. */
export function hasScheme(text: string): boolean {
  return /^[\s\0-\x20]*[a-z][a-z0-9+.\t\r\n-]*:/i.test(text);
}

function checkUrl(text: string, param: string): void {
  if (!hasScheme(text))
    throw new GatewayError('invalid_value', {
      param,
      message: `${param} must be an https URL or a data URI.`,
    });
  if (!isAllowedUrl(text)) throw new GatewayError('url_not_allowed', { param });
}

function checkDataUri(text: string, param: string): void {
  const comma = text.indexOf(',');
  const declared = /^data:(image\/(?:png|jpeg|webp));base64$/i.exec(text.slice(0, comma));
  if (!declared) {
    const message = `${param} must be a data URI of the form data:image/(png|jpeg|webp);base64,…`;
    throw new GatewayError('invalid_image', { param, message });
  }
  const encodedLength = text.length - comma - 1;
  if ((encodedLength * 3) / 4 > IMAGE_BYTES_MAX + 3)
    throw new GatewayError('invalid_image', { param, message: `${param} may have at most 20 MiB.` });
  const head = decodeHead(text.slice(comma + 1, comma + 1 + HEAD_CHARACTERS));
  const tail = text.slice(-4);
  const type = head && sniffMediaType(head);
  if (!type || type !== declared[1]?.toLowerCase() || !/^[A-Za-z0-9+/]{2,4}={0,2}$/.test(tail))
    throw new GatewayError('invalid_image', { param });
}

function decodeHead(encoded: string): Uint8Array | null {
  try {
    return Uint8Array.from(atob(encoded), (character) => character.charCodeAt(0));
  } catch {
    return null;
  }
}
