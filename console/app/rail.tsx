// Navigation: the rail at the left, and on phones a bar above and one below.
import { useState } from 'preact/hooks';
import { useBalance, useAbout } from '../data/queries.ts';
import { call } from '../data/call.ts';
import { forgetDraft } from '../data/kept-draft.ts';
import { sessionEnded, type User } from '../data/session.ts';
import { to } from '../data/addresses.ts';
import { firstLook } from '../data/first-look.ts';
import { useStore } from '../data/store.ts';
import { keptFilters } from '../data/filters.ts';
import { t } from '../texts/index.ts';
import { Dialog } from '../ui/dialog.tsx';
import { formatCredits } from '../ui/format.ts';
import { Icon } from '../ui/icons.tsx';
import { ACCOUNT_PAGE, adminPagesOf, isCurrent, MAIN_PAGES, MONEY_PAGES, type PageEntry } from './pages.tsx';

export function Rail({ user, address, onSearch }: { user: User; address: string; onSearch: () => void }) {
  return (
    <aside class="rail">
      <Brand />
      <button type="button" class="rail-link" onClick={onSearch} title={t.search}>
        <Icon name="search" />
        <span class="grow">{t.search}</span>
        <span aria-hidden="true">
          <kbd>{isMac() ? '⌘K' : 'Ctrl K'}</kbd>
        </span>
      </button>
      <nav aria-label={t.navigation}>
        <Group pages={MAIN_PAGES} address={address} />
        <Group pages={MONEY_PAGES} address={address} title={t.groups.money} />
        <Group pages={adminPagesOf(user)} address={address} title={t.groups.admin} />
      </nav>
      <div class="rail-foot">
        <RailBalance />
        <PageLink page={ACCOUNT_PAGE} address={address} label={user.email} />
        <LogOut />
      </div>
    </aside>
  );
}

export function TopBar() {
  return (
    <header class="top-bar">
      <Brand />
      <a href={to('credits')} class="note strong">
        <Available /> <span class="faint">{t.creditsUnit}</span>
      </a>
    </header>
  );
}

export function BottomBar({ user, address }: { user: User; address: string }) {
  const [isOpen, setOpen] = useState(false);
  const shown = [...MAIN_PAGES.slice(0, 3), ...MONEY_PAGES.slice(2, 3)];
  const rest = [...MAIN_PAGES, ...MONEY_PAGES, ACCOUNT_PAGE].filter((page) => !shown.includes(page));
  return (
    <>
      <nav class="bottom-bar" aria-label={t.navigation}>
        {shown.map((page) => (
          <a key={page.path} href={hrefOf(page)} aria-current={isCurrent(page, address) && 'page'}>
            <Icon name={page.icon} size={20} />
            {t.pages[page.name]}
          </a>
        ))}
        <button
          type="button"
          onClick={() => setOpen(true)}
          aria-haspopup="dialog"
          aria-current={!shown.some((page) => isCurrent(page, address))}
        >
          <Icon name="more" size={20} />
          {t.more}
        </button>
      </nav>
      {isOpen && (
        <Dialog title={t.more} class="sheet" onClose={() => setOpen(false)}>
          <div class="dialog-body" onClick={() => setOpen(false)}>
            <Group pages={rest} address={address} />
            <Group pages={adminPagesOf(user)} address={address} title={t.groups.admin} />
            <LogOut />
          </div>
        </Dialog>
      )}
    </>
  );
}

function Brand() {
  const about = useAbout(useStore(firstLook)).data;
  return (
    <div class="brand">
      <span class="brand-mark">
        <Icon name="models" size={15} />
      </span>
      <span class="row">
        {t.name}
        {about?.sandbox && (
          <span class="badge-sandbox" title={t.sandbox.note}>
            {t.sandbox.name}
          </span>
        )}
      </span>
    </div>
  );
}

function Group({ pages, address, title }: { pages: readonly PageEntry[]; address: string; title?: string }) {
  if (pages.length === 0) return null;
  return (
    <div class="rail-group">
      {title && <span class="rail-title">{title}</span>}
      {pages.map((page) => (
        <PageLink key={page.path} page={page} address={address} />
      ))}
    </div>
  );
}

function PageLink({ page, address, label }: { page: PageEntry; address: string; label?: string }) {
  const name = t.pages[page.name];
  return (
    <a
      class="rail-link"
      href={hrefOf(page)}
      title={label ?? name}
      aria-current={isCurrent(page, address) && 'page'}
    >
      <Icon name={page.icon} />
      <span class="cut">{label ?? name}</span>
    </a>
  );
}

/** Tasks, calls and usage share their filters: going from one to the other keeps them. */
function hrefOf({ path }: PageEntry): string {
  return ['tasks', 'calls', 'usage'].includes(path) ? to(path, keptFilters()) : to(path);
}

function RailBalance() {
  return (
    <a class="rail-balance" href={to('credits')}>
      <span class="small soft">{t.available}</span>
      <strong>
        <Available />
      </strong>
    </a>
  );
}

function Available() {
  return <>{formatCredits(useBalance(useStore(firstLook)).data?.available)}</>;
}

function LogOut() {
  const logOut = async (): Promise<void> => {
    try {
      await call('POST /api/auth/logout');
    } finally {
      forgetDraft();
      sessionEnded();
    }
  };
  return (
    <button type="button" class="rail-link" title={t.logOut} onClick={() => void logOut()}>
      <Icon name="out" />
      <span>{t.logOut}</span>
    </button>
  );
}

function isMac(): boolean {
  return /mac|iphone|ipad/i.test(navigator.userAgent);
}
