// Small parts of pages: heads, cards, figures, notices, empty places, skeletons, copy buttons.
import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { t } from '../texts/index.ts';
import { formatCredits } from './format.ts';
import { Icon, type IconName } from './icons.tsx';

interface HeadProps {
  title: ComponentChildren;
  /** The title of the window, where it differs. */
  name?: string;
  note?: ComponentChildren;
  children?: ComponentChildren;
}

/** The top of a page: its title, what it is, and what can be done. */
export function Head({ title, name, note, children }: HeadProps) {
  const windowTitle = name ?? (typeof title === 'string' ? title : '');
  useEffect(() => {
    document.title = windowTitle === '' ? t.name : `${windowTitle} · ${t.name}`;
  }, [windowTitle]);
  return (
    <header class="head">
      <div class="grow">
        <h1 tabIndex={-1}>{title}</h1>
        {note && <p>{note}</p>}
      </div>
      {children && <div class="head-actions">{children}</div>}
    </header>
  );
}

export function Card(props: {
  title?: ComponentChildren;
  actions?: ComponentChildren;
  children: ComponentChildren;
  isFlush?: boolean;
}) {
  return (
    <section class="card">
      {props.title !== undefined && (
        <div class="card-head">
          <h2>{props.title}</h2>
          {props.actions && <div class="row">{props.actions}</div>}
        </div>
      )}
      {props.isFlush ? props.children : <div class="card-body">{props.children}</div>}
    </section>
  );
}

/** Credits as a large figure: what stands behind the point is quieter. */
export function Amount({ credits, width = '90px' }: { credits: number | null | undefined; width?: string }) {
  if (credits === undefined) return <Bone width={width} />;
  const text = formatCredits(credits);
  const point = text.search(/[.,](?=\d+$)/);
  const isFraction = point > 0 && credits !== null && Number(credits.toFixed(6)) % 1 !== 0;
  return (
    <span>
      {isFraction ? text.slice(0, point) : text}
      {isFraction && <span class="fraction">{text.slice(point)}</span>}
    </span>
  );
}

export function Figure({
  name,
  children,
  hint,
}: {
  name: string;
  children: ComponentChildren;
  hint?: ComponentChildren;
}) {
  return (
    <div class="figure">
      <dt>{name}</dt>
      <dd>
        {children}
        {hint !== undefined && <div class="hint">{hint}</div>}
      </dd>
    </div>
  );
}

type NoticeLook = 'bad' | 'warn' | 'good' | '';
const NOTICE_ICONS: Readonly<Record<NoticeLook, IconName>> = {
  bad: 'warning',
  warn: 'warning',
  good: 'check',
  '': 'info',
};

export function Notice({ look = '', children }: { look?: NoticeLook; children: ComponentChildren }) {
  return (
    <div class={`notice ${look}`} role={look === 'bad' ? 'alert' : undefined}>
      <Icon name={NOTICE_ICONS[look]} />
      <div class="grow">{children}</div>
    </div>
  );
}

/** A place where nothing is yet, and what to do about it. */
export function Empty({
  icon,
  title,
  note,
  children,
  isPage,
}: {
  icon: IconName;
  title: string;
  note?: string;
  children?: ComponentChildren;
  /** Whether it stands in the place of the whole page. */
  isPage?: boolean;
}) {
  return (
    <div class="empty">
      <span class="empty-mark">
        <Icon name={icon} size={20} />
      </span>
      {isPage ? <h1>{title}</h1> : <h2>{title}</h2>}
      {note && <p>{note}</p>}
      {children && <div class="row wrap">{children}</div>}
    </div>
  );
}

/** Keeps the place of a text that is being read. */
export function Bone({ width = '60%', height }: { width?: string; height?: string }) {
  return <span class="bone" style={{ width, ...(height && { height }) }} />;
}

export function Skeleton({ lines = 4 }: { lines?: number }) {
  return (
    <div class="stack" role="status" aria-label={t.loading}>
      {Array.from({ length: lines }, (_, line) => (
        <Bone key={line} width={`${90 - ((line * 17) % 45)}%`} />
      ))}
    </div>
  );
}

const COPIED_MS = 1_500;

/** Copies the text, and says that it did. */
export function useCopy(): [isDone: boolean, copy: (text: string) => void] {
  const [isDone, setDone] = useState(false);
  useEffect(() => {
    if (!isDone) return undefined;
    const timer = setTimeout(() => setDone(false), COPIED_MS);
    return () => clearTimeout(timer);
  }, [isDone]);
  const copy = (text: string): void => {
    void navigator.clipboard?.writeText(text).then(
      () => setDone(true),
      () => undefined,
    );
  };
  return [isDone, copy];
}

interface CopyProps {
  text: string;
  children?: ComponentChildren;
  /** Whether people read it as a name, and not letter by letter. */
  isName?: boolean;
}

/** A text, such as an id, that a click copies. */
export function Copy({ text, children, isName }: CopyProps) {
  const [isDone, copy] = useCopy();
  return (
    <button
      type="button"
      class={isName ? 'copy name above' : 'copy above'}
      data-done={isDone || undefined}
      title={t.copy}
      onClick={() => copy(text)}
    >
      <span class="cut">{children ?? text}</span>
      <Icon name={isDone ? 'check' : 'copy'} size={13} />
      <span class="unseen">{isDone ? t.copied : t.copy}</span>
    </button>
  );
}

/** A text for programs, with a button that copies it. */
export function Code({ text, label }: { text: string; label: string }) {
  const [isDone, copy] = useCopy();
  return (
    <div class="code">
      <pre tabIndex={0} aria-label={label} role="region">
        <code>{text}</code>
      </pre>
      <button type="button" class="button small" onClick={() => copy(text)}>
        <Icon name={isDone ? 'check' : 'copy'} size={14} />
        {isDone ? t.copied : t.copy}
      </button>
    </div>
  );
}

export function Meter({ value, max, label }: { value: number; max: number; label: string }) {
  const share = max > 0 ? Math.min(1, value / max) : 0;
  return (
    <span
      class={share >= 1 ? 'meter full' : 'meter'}
      role="meter"
      aria-label={label}
      aria-valuenow={value}
      aria-valuemin={0}
      aria-valuemax={max}
    >
      <i style={{ width: `${share * 100}%` }} />
    </span>
  );
}
