// Sends a video to the API's storage, and tells how far it is.
import type { AnswerOf } from '../../api/openapi/route-types.ts';
import { apiUrl } from './addresses.ts';
import { ApiError, readError } from './api-error.ts';
import { sessionEnded } from './session.ts';

export type Upload = AnswerOf<'POST /api/uploads/videos'>['data'];

/** Resolves to the stored file. Rejects with an ApiError. `onShare` is told the share sent, 0 to 1. */
export function uploadVideo(file: File, onShare: (share: number) => void): Promise<Upload> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open('POST', apiUrl('api/uploads/videos'));
    request.upload.addEventListener('progress', ({ loaded, total }) =>
      onShare(total > 0 ? loaded / total : 0),
    );
    request.addEventListener('error', () =>
      reject(new ApiError({ status: 0, code: 'no_connection', message: 'The API does not answer.' })),
    );
    request.addEventListener('load', () => {
      if (request.status === 201) return resolve(JSON.parse(request.responseText).data as Upload);
      if (request.status === 401) sessionEnded();
      const answer = new Response(request.responseText, {
        status: request.status,
        headers: { 'x-request-id': request.getResponseHeader('x-request-id') ?? '' },
      });
      readError(answer).then(reject, reject);
    });
    const form = new FormData();
    form.append('file', file);
    request.send(form);
  });
}
