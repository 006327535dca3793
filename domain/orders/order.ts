// An order in concrete values, and the caller's input it is made from.
import type { ImageRole } from '../catalog/catalog.ts';
import type { JsonValue } from '../json.ts';
import type { TaskMode } from '../tasks.ts';

/** What is ordered, in concrete values. Holds nothing secret, so that it may be stored in clear. */
export interface Order {
  mode: TaskMode;
  images: number;
  /** 0 where the kind of task has no duration. */
  seconds: number;
  resolution: string | null;
  ratio: string | null;
  audio: boolean | null;
  inputImages: number;
  imageRole: ImageRole;
  inputVideos: number;
  /** The most that the input videos can have together: their true length is known after the work. */
  inputVideoSeconds: number;
  /** The most that the vendor can count; 0 where it counts none. */
  videoTokens: number;
  /** Of a text: the most its prompt and its answer can have; 0 for pictures and videos. */
  promptTokens: number;
  outputTokens: number;
  responseFormat: 'url' | 'b64_json';
}

/** The wishes of one request, already of the right types; absent means: as the model's default says. */
export interface OrderInput {
  prompt: string;
  images?: number | undefined;
  duration?: number | undefined;
  resolution?: string | undefined;
  ratio?: string | undefined;
  audio?: boolean | undefined;
  inputImages: readonly string[];
  inputVideos?: readonly string[] | undefined;
  /** Of a text: the conversation, and the most tokens of its answer. */
  text?: { messages: readonly JsonValue[]; outputTokens: number | undefined } | undefined;
  responseFormat?: 'url' | 'b64_json' | undefined;
}

/** Field names as the endpoint calls them, so that an error names the caller's own field. */
export interface FieldNames {
  ratio: string;
  resolution: string;
  audio: string;
  /** `reference_images` says that a video's input images are references; under another name their number decides. */
  inputImages: string;
}
