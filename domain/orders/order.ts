// An order in concrete values, and the caller's input it is made from.
import type { ImageRole } from '../catalog/catalog.ts';
import type { TaskMode } from '../tasks.ts';

/**
 * What is ordered, in concrete values. Contains no prompt and no URL, so that it may be stored unencrypted.
 */
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
  /** The most that the input videos can have together: their true length is known only after the work. */
  inputVideoSeconds: number;
  /** The most that the vendor can count; 0 where the vendor bills no tokens. */
  videoTokens: number;
  /** The most that the prompt of a text can have; 0 for images and videos. */
  promptTokens: number;
  /** The most that all answers of a text can have together; 0 for images and videos. */
  outputTokens: number;
  /** Null for images and videos. */
  answerLimitedBy: AnswerLimiter | null;
  responseFormat: 'url' | 'b64_json';
  /** Null: the vendor chooses, or the model takes none. */
  seed: number | null;
  /** Null where the model has no such choice. */
  quality: string | null;
  /** Whether the vendor may put its mark on the work; null where the model has no such choice. */
  watermark: boolean | null;
  /** Whether the vendor may rewrite the prompt; null where the model has no such choice. */
  promptExtension: boolean | null;
}

/**
 * Who keeps an answer to its limit: the caller's, one of ours, or the model its own, which `outputTokens`
 * covers. Only then is the upstream sent no limit.
 */
export type AnswerLimiter = 'caller' | 'gateway' | 'model';

/** What one request asks for, already of the right types; absent means: as the model's default says. */
export type OrderInput = MediaOrderInput | TextOrderInput;

export interface MediaOrderInput {
  mode: 'image' | 'video';
  prompt: string;
  images?: number | undefined;
  /** In seconds. */
  duration?: number | undefined;
  resolution?: string | undefined;
  ratio?: string | undefined;
  audio?: boolean | undefined;
  /** URLs and data URIs. */
  inputImages: readonly string[];
  /** What the images are for, where their fields say it; absent: their number and the field's name decide. */
  imageRole?: 'last_frame' | 'first_frame_and_references' | undefined;
  /** URLs. */
  inputVideos?: readonly string[] | undefined;
  responseFormat?: 'url' | 'b64_json' | undefined;
  options?: MediaOptions | undefined;
  names: FieldNames;
}

/** Model-specific options, which callers send as `metadata`. */
export interface MediaOptions {
  seed?: number | undefined;
  negativePrompt?: string | undefined;
  quality?: string | undefined;
  watermark?: boolean | undefined;
  promptExtension?: boolean | undefined;
  /** Names that no model knows. */
  unknown?: readonly string[] | undefined;
}

export interface TextOrderInput {
  mode: 'text';
  /** The prompt, or the JSON of the conversation. */
  prompt: string;
  /** The most tokens the prompt can have. */
  promptTokens: number;
  /** The most tokens of one answer. */
  outputTokens: number | undefined;
  answers: number;
  names: TextFieldNames;
}

/** Field names as the endpoint calls them, so that an error names the caller's own field. */
export interface FieldNames {
  ratio: string;
  resolution: string;
  audio: string;
  /**
   * `reference_images` says that a video's input images are references, `metadata.first_frame` that they are
   * frames; under another name their number decides.
   */
  inputImages: string;
}

export interface TextFieldNames {
  outputTokens: string;
}
