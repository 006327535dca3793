// Sizes of Seedance's frames by generation, resolution and ratio, as ModelArk's documentation lists them.

type Size = readonly [width: number, height: number];
type Sizes = Readonly<Record<string, Readonly<Record<string, Size>>>>;

/** Landscape and square; a portrait frame has as many pixels as the landscape frame of the turned ratio. */
const SIZES_SINCE_1_5: Sizes = {
  '480p': { '16:9': [864, 496], '4:3': [752, 560], '1:1': [640, 640], '21:9': [992, 432] },
  '720p': { '16:9': [1280, 720], '4:3': [1112, 834], '1:1': [960, 960], '21:9': [1470, 630] },
  '1080p': { '16:9': [1920, 1080], '4:3': [1664, 1248], '1:1': [1440, 1440], '21:9': [2206, 946] },
};
const SIZES_UNTIL_1_0: Sizes = {
  '480p': { '16:9': [864, 480], '4:3': [736, 544], '1:1': [640, 640], '21:9': [960, 416] },
  '720p': { '16:9': [1248, 704], '4:3': [1120, 832], '1:1': [960, 960], '21:9': [1504, 640] },
  '1080p': { '16:9': [1920, 1088], '4:3': [1664, 1248], '1:1': [1440, 1440], '21:9': [2176, 928] },
};
const LANDSCAPE_OF: Readonly<Record<string, string>> = { '9:16': '16:9', '3:4': '4:3' };

export function frameOf(model: string, resolution: string, ratio: string): Size {
  const sizes = model.includes('seedance-1-0') ? SIZES_UNTIL_1_0 : SIZES_SINCE_1_5;
  return sizes[resolution]?.[LANDSCAPE_OF[ratio] ?? ratio] ?? [1280, 720];
}
