// The icons: strokes on a grid of 16, drawn in the colour of their text. They never carry meaning alone.
import type { JSX } from 'preact';

const PATHS = {
  home: 'M2.5 7 8 2.5 13.5 7v6.5h-4V9.5h-3v4h-4z',
  tasks: 'M2.5 4h2M2.5 8h2M2.5 12h2M7 4h6.5M7 8h6.5M7 12h6.5',
  plus: 'M8 3v10M3 8h10',
  models: 'm8 2 5.5 3v6L8 14l-5.5-3V5zM2.5 5 8 8l5.5-3M8 8v6',
  calls: 'M2.5 3.5h11v7.5h-6L4.5 13.5V11h-2z',
  usage: 'M3 13V9M6.5 13V5M10 13V7.5M13.5 13V3',
  credits: 'M2.5 4.5h11v8h-11zM2.5 7h11M5 10h2',
  keys: 'M9.5 9.5a3.5 3.5 0 1 0-3-3L2.5 10.5v3h3v-2h2v-2zM11 5h.01',
  webhooks:
    'M3.5 10.5a2.5 2.5 0 1 0 3.4 2.3h4.3M5.6 10.8 8 6.6a2.5 2.5 0 1 1 2.4-.9M8 5l2.6 4.6a2.5 2.5 0 1 1-.6 4.2',
  account: 'M8 8a2.75 2.75 0 1 0 0-5.5A2.75 2.75 0 0 0 8 8ZM3 13.5c.5-2.5 2.5-3.5 5-3.5s4.5 1 5 3.5',
  users:
    'M6 7.5a2.25 2.25 0 1 0 0-4.5 2.25 2.25 0 0 0 0 4.5ZM1.5 13c.4-2.2 2.2-3.5 4.5-3.5s4.1 1.3 4.5 3.5M10.5 3.2a2.25 2.25 0 0 1 0 4.1M12 9.8c1.4.5 2.3 1.6 2.5 3.2',
  codes: 'M2.5 5.5h11v2a1.5 1.5 0 0 0 0 3v2h-11v-2a1.5 1.5 0 0 0 0-3zM9.5 5.5v7',
  vendors: 'M2.5 3h11v4h-11zM2.5 9h11v4h-11zM5 5h.01M5 11h.01',
  audit: 'M4 2.5h8v11H4zM6.5 5.5h3M6.5 8h3M6.5 10.5h1.5',
  shield: 'M8 2 13 4v4c0 3-2 5-5 6-3-1-5-3-5-6V4z',
  search: 'M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10ZM10.5 10.5 14 14',
  copy: 'M5.5 5.5h7.5v8H5.5zM3 10.5v-8h7.5',
  check: 'm3 8.5 3.2 3.2L13 4.8',
  cross: 'm4 4 8 8M12 4l-8 8',
  stop: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12ZM4 4l8 8',
  clock: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12ZM8 5v3.2l2 1.3',
  warning: 'M8 2.5 14.5 13.5h-13zM8 6.5v3.2M8 11.7v.01',
  info: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12ZM8 7.5v3.5M8 5.2v.01',
  download: 'M8 2.5v7.5M4.8 7 8 10.2 11.2 7M2.5 13.5h11',
  retry: 'M13 8a5 5 0 1 1-1.6-3.7M13 2.5v3h-3',
  image: 'M2.5 3h11v10h-11zM2.5 11l3-3 2.5 2.5L10.5 7.5l3 3.5M5.5 6h.01',
  video: 'M2.5 4h8v8h-8zM10.5 7l3.5-2v6l-3.5-2z',
  text: 'M3 4h10M3 8h10M3 12h6',
  grid: 'M2.5 2.5h4.5v4.5H2.5zM9 2.5h4.5v4.5H9zM2.5 9h4.5v4.5H2.5zM9 9h4.5v4.5H9z',
  more: 'M3.5 8h.01M8 8h.01M12.5 8h.01',
  out: 'M9.5 3h3.5v10H9.5M2.5 8H10M7.5 5.5 10 8l-2.5 2.5',
  open: 'M6.5 3.5h-4v10h10v-4M9 2.5h4.5V7M13.5 2.5 7.5 8.5',
  back: 'M9.5 3.5 5 8l4.5 4.5',
  pause: 'M5.5 3.5v9M10.5 3.5v9',
  play: 'M5 3.2 12.5 8 5 12.8z',
  star: 'M8 2v3M8 11v3M2 8h3M11 8h3',
} as const;
export type IconName = keyof typeof PATHS;

export function Icon({
  name,
  size = 16,
  ...rest
}: { name: IconName; size?: number } & JSX.SVGAttributes<SVGSVGElement>) {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      stroke-width={name === 'more' ? 2.2 : 1.5}
      stroke-linecap="round"
      stroke-linejoin="round"
      aria-hidden="true"
      {...rest}
    >
      <path d={PATHS[name]} />
    </svg>
  );
}

/** A ring that fills with the progress, in percent. */
export function Ring({ percent }: { percent: number }) {
  const around = 2 * Math.PI * 5.5;
  return (
    <svg class="ring" width="14" height="14" viewBox="0 0 14 14" aria-hidden="true">
      <circle cx="7" cy="7" r="5.5" />
      <circle
        class="ring-done"
        cx="7"
        cy="7"
        r="5.5"
        stroke-dasharray={around}
        stroke-dashoffset={around * (1 - Math.max(percent, 6) / 100)}
      />
    </svg>
  );
}
