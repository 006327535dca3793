// Request bodies of OpenAI's Videos API: seconds as a text, ratio and resolution as one size.
import { FormData } from 'undici';
import type { JsonApiRequest } from '../http/json-api.ts';
import type { InputImage } from '../http/input-images.ts';
import { UpstreamFailure, type UpstreamJob } from '../provider.ts';

/** The vendor's sizes; `1024p` is its name for the middle one of the pro model. */
const SIZES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  '720p': { '16:9': '1280x720', '9:16': '720x1280' },
  '1024p': { '16:9': '1792x1024', '9:16': '1024x1792' },
  '1080p': { '16:9': '1920x1080', '9:16': '1080x1920' },
};

/** Every choice is sent: the vendor's own defaults (4 seconds, 720x1280) must never decide. */
export function orderedFields({ upstreamModel, prompt, order }: UpstreamJob) {
  const size = sizeOf(order);
  if (size === undefined)
    throw new UpstreamFailure('invalid', 'refused', { text: 'This size is not offered.' });
  return { model: upstreamModel, prompt, seconds: String(order.seconds), size };
}

/** Width and height as the vendor writes them; undefined where there is none. */
export function sizeOf({ resolution, ratio }: UpstreamJob['order']): string | undefined {
  return SIZES[resolution ?? '']?.[ratio ?? ''];
}

/**
 * The body as JSON, or as a form with a first frame: every service with this API takes frames in a form only.
 */
export function requestContent(
  job: UpstreamJob,
  inputImages: readonly InputImage[],
): Pick<JsonApiRequest, 'json' | 'form'> {
  const fields = orderedFields(job);
  const [firstFrame] = inputImages;
  if (!firstFrame) return { json: fields };
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  const { type, bytes } = firstFrame;
  form.append('input_reference', new Blob([bytes], { type }), `first-frame.${type.slice('image/'.length)}`);
  return { form };
}
