// Reads the input videos of an order: https URLs of public hosts, or links to the caller's own uploads.
import { findOwnUpload, useUploads } from '../../db/uploads.ts';
import { GatewayError } from '../../domain/errors.ts';
import { hasScheme, isAllowedUrl } from '../../domain/files/input-images.ts';
import type { RequestContext, KeyCaller, SessionCaller } from '../context.ts';
import { signUploadLink, readUploadLink } from './links.ts';
import type { Em } from '../../db/database.ts';

export interface InputVideos {
  /** The URLs that the vendor is given. */
  urls: string[];
  /** The uploads that some of the URLs lead to. */
  uploadIds: string[];
}

const PARAM = 'video_urls';
/**
 * Validity of the links that vendors are given for uploads: a task may wait for a slot longer than the
 * caller's link is valid. Whether the link leads to a file is decided by the upload, which is kept while an
 * open task needs it.
 */
const VENDOR_LINK_DAYS = 30;
const NOT_AN_UPLOAD = 'This link leads to no upload of yours, or has expired.';

/**
 * Replaces links to uploads by links for the vendor. Throws 400 that names the entry: the same for a forged
 * link, another user's upload and an expired one.
 */
export async function readInputVideos(
  { services, em, caller }: Pick<RequestContext<KeyCaller | SessionCaller>, 'services' | 'em' | 'caller'>,
  urls: readonly string[],
): Promise<InputVideos> {
  const videos: InputVideos = { urls: [], uploadIds: [] };
  for (const [index, url] of urls.entries()) {
    const param = `${PARAM}[${index}]`;
    if (!hasScheme(url))
      throw new GatewayError('invalid_value', { param, message: `${param} must be an https URL.` });
    const link = readUploadLink(services, url);
    if (!link) {
      if (!isAllowedUrl(url)) throw new GatewayError('url_not_allowed', { param });
      videos.urls.push(url);
      continue;
    }
    const upload = link.isSigned ? await findOwnUpload(em, caller.user.id, link.id) : null;
    if (!upload) throw new GatewayError('url_not_allowed', { param, message: NOT_AN_UPLOAD });
    const until = new Date(Date.now() + VENDOR_LINK_DAYS * 86_400_000);
    videos.urls.push(signUploadLink(services, upload, until));
    videos.uploadIds.push(upload.id);
  }
  return videos;
}

/**
 * Marks the uploads as used by the task. Runs in the transaction that writes the task, so that the sweeper
 * sees both or neither.
 */
export async function bindUploads(
  tx: Em,
  task: { taskId: string; userId: string },
  { uploadIds }: InputVideos,
): Promise<void> {
  if (uploadIds.length === 0) return;
  // The uploads existed when the request was read: they expired or were deleted since.
  if (!(await useUploads(tx, task, uploadIds))) throw new GatewayError('url_not_allowed', { param: PARAM });
}
