// What lists have in common: tables that are cards on phones, the foot with the next page, and moving
// through rows by key.
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { isShortcut } from './keys.ts';
import { t } from '../texts/index.ts';
import { Button } from './controls.tsx';
import { Bone, Card } from './parts.tsx';
import { Problem } from './problem.tsx';

interface Pages {
  hasNextPage: boolean;
  isFetchingNextPage: boolean;
  fetchNextPage: () => unknown;
}

/** The foot of a list: the next page, or that there is none. */
export function More({ pages }: { pages: Pages }) {
  return (
    <div class="more">
      {pages.hasNextPage ? (
        <Button isSmall isBusy={pages.isFetchingNextPage} onClick={() => void pages.fetchNextPage()}>
          {t.loadMore}
        </Button>
      ) : (
        t.thatIsAll
      )}
    </div>
  );
}

interface ListedProps {
  list: Pages & { isPending: boolean; error: unknown; refetch: () => unknown };
  isEmpty: boolean;
  /** What stands in the place of a list without rows. */
  empty: ComponentChildren;
  /** Whether a list that is short says nothing about its end. */
  isPart?: boolean;
  children: ComponentChildren;
}

/** A list that is read page by page: its rows and foot, what is wrong, or that there is nothing. */
export function Listed({ list, isEmpty, empty, isPart = false, children }: ListedProps) {
  const problem = <Problem error={list.error} onRetry={() => void list.refetch()} />;
  // Of a list that could not be read, nothing says that it is empty.
  if (list.error && isEmpty) return problem;
  return (
    <>
      {problem}
      {!list.isPending && isEmpty ? (
        <Card>{empty}</Card>
      ) : (
        <div class="table-card">
          {children}
          {!list.isPending && (list.hasNextPage || !isPart) && <More pages={list} />}
        </div>
      )}
    </>
  );
}

interface CardTableProps {
  /** What readers of the screen hear of it. */
  label: string;
  /** The cells of its head. */
  heads: ComponentChildren;
  isLoading?: boolean;
  /** How many cells and rows keep the place of those that are being read. */
  columns?: number;
  bones?: number;
  /** Rows as high as two lines of text. */
  isTall?: boolean;
  children: ComponentChildren;
}

/**
 * A table whose rows are cards on phones, with the cells two by two. There, `phone-wide` gives a cell a line
 * of its own, `phone-below` puts it below the others, `phone-start` and `phone-end` align it, and
 * `phone-hidden` leaves it out.
 */
export function CardTable({
  label,
  heads,
  isLoading = false,
  columns = 1,
  bones = 6,
  isTall = false,
  children,
}: CardTableProps) {
  return (
    <div class="table-scroll" tabIndex={0} role="region" aria-label={label}>
      <table class={isTall ? 'table cards' : 'table cards dense'} aria-busy={isLoading}>
        <thead>
          <tr>{heads}</tr>
        </thead>
        <tbody>
          {isLoading && <BoneRows columns={columns} rows={bones} />}
          {children}
        </tbody>
      </table>
    </div>
  );
}

/** Rows that keep the place of those that are being read. */
export function BoneRows({ columns, rows = 6 }: { columns: number; rows?: number }) {
  return (
    <>
      {Array.from({ length: rows }, (_, row) => (
        <tr key={row} aria-hidden="true">
          {Array.from({ length: columns }, (_, column) => (
            <td key={column}>
              <Bone width={`${80 - ((row * 13 + column * 29) % 45)}%`} />
            </td>
          ))}
        </tr>
      ))}
    </>
  );
}

/** Names a figure where a table is shown as cards, on phones: its head is out of sight there. */
export function CardLabel({ text }: { text: string }) {
  return (
    <span class="card-label" aria-hidden="true">
      {text}
    </span>
  );
}

/** The row that `j` and `k` have moved to; -1 before the first. Enter opens it, `x` selects it. */
export function useRowKeys(
  count: number,
  keys: { open: (row: number) => void; select?: (row: number) => void },
): number {
  const [row, setRow] = useState(-1);
  // Known at once, since the next key may come before the next drawing.
  const at = useRef(-1);
  useEffect(() => {
    const move = (to: number): void => {
      at.current = to;
      setRow(to);
    };
    const onKey = (event: KeyboardEvent): void => {
      if (!isShortcut(event)) return;
      if (event.key === 'j') move(Math.min(at.current + 1, count - 1));
      else if (event.key === 'k') move(Math.max(at.current - 1, 0));
      else if (event.key === 'x' && at.current >= 0) keys.select?.(at.current);
      else if (event.key === 'Enter' && at.current >= 0 && !isOnControl(event)) keys.open(at.current);
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  });
  useEffect(() => {
    document.querySelector('[data-active="true"]')?.scrollIntoView({ block: 'nearest' });
  }, [row]);
  return Math.min(row, count - 1);
}

/** Whether Enter already means something where the focus is. */
function isOnControl({ target }: KeyboardEvent): boolean {
  return target instanceof Element && target.closest('a, button, input, select, textarea, summary') !== null;
}
