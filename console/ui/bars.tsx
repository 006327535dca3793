// Stacked bars by time, drawn as SVG. The same figures stand in a table beneath, so readers of the screen
// skip these.
import { useEffect, useRef, useState } from 'preact/hooks';
import { formatCredits, numberFormat, timeFormat } from './format.ts';

export interface BarRow {
  bucket: string;
  group: string | null;
  credits: number;
}

interface BarsProps {
  buckets: readonly string[];
  rows: readonly BarRow[];
  /** Names of the groups in the order of their colours; what is not among them has the last colour. */
  groups?: readonly (string | null)[];
  height: number;
  /** A small one: bars alone, without scale and names. */
  isSpark?: boolean;
  width?: number;
  href?: (bucket: string) => string;
}

/** So many groups have a colour of their own; the rest shares one. */
export const GROUPS_MAX = 5;
const SCALE_WIDTH = 46;
const NAMES_HEIGHT = 22;
const NAME_WIDTH = 64;
const BAR_WIDTH_MAX = 42;

export function Bars({
  buckets,
  rows,
  groups = [null],
  height,
  isSpark = false,
  width: fixed,
  href,
}: BarsProps) {
  const [place, measured] = useWidth(fixed);
  const scale = isSpark
    ? { max: Math.max(1e-9, ...sumsOf(buckets, rows)), step: 0 }
    : scaleOf(Math.max(0, ...sumsOf(buckets, rows)));
  const left = isSpark ? 0 : SCALE_WIDTH;
  const bottom = isSpark ? 0 : NAMES_HEIGHT;
  const inner = height - bottom - (isSpark ? 0 : 8);
  const step = (measured - left) / Math.max(1, buckets.length);
  const y = (credits: number): number => height - bottom - (credits / scale.max) * inner;
  const everyNth = Math.ceil(NAME_WIDTH / Math.max(1, step));
  return (
    <div
      ref={place}
      class={isSpark ? 'spark' : undefined}
      style={fixed ? { width: `${fixed}px` } : { width: '100%' }}
      aria-hidden="true"
    >
      <svg class="chart" width={measured} height={height} viewBox={`0 0 ${measured} ${height}`}>
        {!isSpark &&
          ticksOf(scale).map((tick) => <Tick key={tick} credits={tick} y={y(tick)} width={measured} />)}
        {buckets.map((bucket, index) => (
          <Column key={bucket} bucket={bucket} href={href}>
            <rect class="hit" x={left + index * step} y={0} width={step} height={height - bottom} />
            <Stack
              rows={rows.filter((row) => row.bucket === bucket)}
              groups={groups}
              x={left + index * step + (step - barWidth(step)) / 2}
              width={barWidth(step)}
              y={y}
              isSpark={isSpark}
            />
            {!isSpark && index % everyNth === 0 && (
              <text x={left + (index + 0.5) * step} y={height - 4} text-anchor="middle">
                {nameOf(bucket)}
              </text>
            )}
          </Column>
        ))}
      </svg>
    </div>
  );
}

function Column({
  bucket,
  href,
  children,
}: {
  bucket: string;
  href: BarsProps['href'];
  children: preact.ComponentChildren;
}) {
  if (!href) return <g class="bar-column">{children}</g>;
  return (
    <a class="bar-column" href={href(bucket)} tabindex={-1}>
      {children}
    </a>
  );
}

interface StackProps {
  rows: readonly BarRow[];
  groups: readonly (string | null)[];
  x: number;
  width: number;
  y: (credits: number) => number;
  isSpark: boolean;
}

function Stack({ rows, groups, x, width, y, isSpark }: StackProps) {
  const total = rows.reduce((sum, { credits }) => sum + credits, 0);
  let below = 0;
  const parts = rows
    .map((row) => ({ ...row, color: colorOf(groups, row.group) }))
    .toSorted((one, other) => one.color - other.color)
    .map((row) => {
      const from = below;
      below += row.credits;
      return { ...row, from, to: below };
    });
  return (
    <g>
      <title>{`${rows[0]?.bucket ?? ''}: ${formatCredits(total)}`}</title>
      {total === 0 && (
        <rect class="bar g5" x={x} y={y(0) - 1} width={width} height={1} opacity={isSpark ? 0.5 : 0.35} />
      )}
      {parts.map(({ group, color, from, to }) => (
        <rect
          key={group}
          class={`bar g${color}`}
          x={x}
          y={y(to)}
          width={width}
          height={Math.max(0.5, y(from) - y(to))}
          rx={1}
        />
      ))}
    </g>
  );
}

function Tick({ credits, y, width }: { credits: number; y: number; width: number }) {
  return (
    <g>
      <line class="grid-line" x1={SCALE_WIDTH} x2={width} y1={y} y2={y} />
      <text x={SCALE_WIDTH - 8} y={y + 4} text-anchor="end">
        {numberFormat({ notation: 'compact' }).format(credits)}
      </text>
    </g>
  );
}

export function colorOf(groups: readonly (string | null)[], group: string | null): number {
  const at = groups.indexOf(group);
  return at < 0 || at >= GROUPS_MAX ? GROUPS_MAX : at;
}

function barWidth(step: number): number {
  return Math.max(1, Math.min(BAR_WIDTH_MAX, step * 0.68));
}

function sumsOf(buckets: readonly string[], rows: readonly BarRow[]): number[] {
  return buckets.map((bucket) =>
    rows.reduce((sum, row) => (row.bucket === bucket ? sum + row.credits : sum), 0),
  );
}

/** A scale of three or four steps of 1, 2 or 5 times a power of ten. */
function scaleOf(max: number): { max: number; step: number } {
  if (max <= 0) return { max: 1, step: 1 };
  const rough = max / 3;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough) ?? power * 10;
  return { max: Math.ceil(max / step) * step, step };
}

function ticksOf({ max, step }: { max: number; step: number }): number[] {
  return Array.from({ length: Math.round(max / step) + 1 }, (_, index) => index * step);
}

/** `20 Nov`, `09:00` or `Nov 2026` for a bucket. */
export function nameOf(bucket: string): string {
  const [date = '', hour] = bucket.split(' ');
  if (hour !== undefined) return `${hour}:00`;
  const isMonth = date.length === 7;
  const moment = new Date(`${isMonth ? `${date}-01` : date}T12:00:00Z`);
  return timeFormat({
    timeZone: 'UTC',
    month: 'short',
    ...(isMonth ? { year: 'numeric' } : { day: 'numeric' }),
  }).format(moment);
}

function useWidth(fixed: number | undefined) {
  const place = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(fixed ?? 600);
  useEffect(() => {
    const { current } = place;
    if (!current || fixed !== undefined) return undefined;
    const observer = new ResizeObserver(() => setWidth(Math.max(120, current.clientWidth)));
    observer.observe(current);
    return () => observer.disconnect();
  }, [fixed]);
  return [place, width] as const;
}
