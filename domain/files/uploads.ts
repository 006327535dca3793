// Where the file of an upload is kept.
import { fileExtensionOf, type VideoType } from './media-types.ts';

/** The folder of all uploads in the storage. */
export const UPLOADS_FOLDER = 'uploads';

/** Key in the storage; with a slash in front, it is also the path of its link. */
export function uploadKey({ id, contentType }: { id: string; contentType: VideoType }): string {
  return `${UPLOADS_FOLDER}/${id}.${fileExtensionOf(contentType)}`;
}
