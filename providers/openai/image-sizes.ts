// Sizes in pixels for our ratios and resolutions, within what gpt-image-2 and 2.5 accept.

/**
 * Our own arithmetic, not a table of the vendor. Its limits: edges are multiples of 16 and at most 3,840, the
 * long edge at most three times the short one, 655,360 to 8,294,400 pixels. 1K aims at 1,048,576 pixels, 2K
 * at 4,194,304, 4K at the limit.
 */
const SIZES = {
  '1:1': { '1K': '1024x1024', '2K': '2048x2048', '4K': '2880x2880' },
  '3:2': { '1K': '1248x832', '2K': '2496x1664', '4K': '3504x2336' },
  '2:3': { '1K': '832x1248', '2K': '1664x2496', '4K': '2336x3504' },
  '4:3': { '1K': '1152x864', '2K': '2304x1728', '4K': '3264x2448' },
  '3:4': { '1K': '864x1152', '2K': '1728x2304', '4K': '2448x3264' },
  '5:4': { '1K': '1120x896', '2K': '2240x1792', '4K': '3200x2560' },
  '4:5': { '1K': '896x1120', '2K': '1792x2240', '4K': '2560x3200' },
  '16:9': { '1K': '1360x768', '2K': '2704x1520', '4K': '3840x2160' },
  '9:16': { '1K': '768x1360', '2K': '1520x2704', '4K': '2160x3840' },
  '2:1': { '1K': '1440x720', '2K': '2880x1440', '4K': '3840x1920' },
  '1:2': { '1K': '720x1440', '2K': '1440x2880', '4K': '1920x3840' },
  '21:9': { '1K': '1536x656', '2K': '3024x1296', '4K': '3808x1632' },
  '9:21': { '1K': '656x1536', '2K': '1296x3024', '4K': '1632x3808' },
} as const;

export const RATIOS = Object.keys(SIZES);
export const RESOLUTIONS = ['1K', '2K', '4K'] as const;

/** `WIDTHxHEIGHT` for a ratio such as `16:9` and a resolution such as `2K`; null where there is none. */
export function sizeOf(ratio: string, resolution: string): string | null {
  const sizes = Object.entries(SIZES).find(([name]) => name === ratio)?.[1];
  const found = RESOLUTIONS.find((name) => name === resolution);
  return sizes && found ? sizes[found] : null;
}
