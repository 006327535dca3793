// The pages: where each is found, what it is called, who may see it. All but the list of tasks load on
// demand.
import type { ComponentType } from 'preact';
import lazy from 'preact-iso/lazy';
import { Router, useLocation } from 'preact-iso/router';
import { useEffect, useErrorBoundary, useRef } from 'preact/hooks';
import { ROOT } from '../data/addresses.ts';
import { client } from '../data/client.ts';
import { endFirstLook } from '../data/first-look.ts';
import { hasPermission, type Permission, type User } from '../data/session.ts';
import type { FirstTexts } from '../texts/en.ts';
import type { IconName } from '../ui/icons.tsx';
import { t } from '../texts/index.ts';
import { Button } from '../ui/controls.tsx';
import { Empty } from '../ui/parts.tsx';
import { Tasks } from '../pages/tasks/tasks.tsx';

export interface PageEntry {
  path: string;
  name: keyof FirstTexts['pages'];
  icon: IconName;
  /** The letter that leads here after `g`. */
  key?: string;
  permission?: Permission;
}

export const MAIN_PAGES: readonly PageEntry[] = [
  { path: '', name: 'home', icon: 'home', key: 'h' },
  { path: 'tasks', name: 'tasks', icon: 'tasks', key: 't' },
  { path: 'create', name: 'create', icon: 'plus', key: 'n' },
  { path: 'models', name: 'models', icon: 'models', key: 'm' },
];
export const MONEY_PAGES: readonly PageEntry[] = [
  { path: 'calls', name: 'calls', icon: 'calls', key: 'l' },
  { path: 'usage', name: 'usage', icon: 'usage', key: 'u' },
  { path: 'credits', name: 'credits', icon: 'credits', key: 'c' },
  { path: 'keys', name: 'keys', icon: 'keys', key: 'k' },
  { path: 'webhooks', name: 'webhooks', icon: 'webhooks', key: 'w' },
];
export const ACCOUNT_PAGE: PageEntry = { path: 'account', name: 'account', icon: 'account', key: 'a' };
const ADMIN_PAGES: readonly PageEntry[] = [
  { path: 'admin/tasks', name: 'adminTasks', icon: 'tasks', permission: 'tasks.read' },
  { path: 'admin/users', name: 'adminUsers', icon: 'users', permission: 'users.read' },
  { path: 'admin/codes', name: 'adminCodes', icon: 'codes', permission: 'redemption.read' },
  { path: 'admin/usage', name: 'adminUsage', icon: 'usage', permission: 'usage.read' },
  { path: 'admin/webhooks', name: 'adminWebhooks', icon: 'webhooks', permission: 'tasks.read' },
  { path: 'admin/vendors', name: 'adminVendors', icon: 'vendors', permission: 'system.read' },
  { path: 'admin/audit', name: 'adminAudit', icon: 'audit', permission: 'audit.read' },
];

/** The pages of administration that this user may see. */
export function adminPagesOf(user: User): readonly PageEntry[] {
  return ADMIN_PAGES.filter(({ permission }) => permission === undefined || hasPermission(user, permission));
}

/** Whether the address is that of the page, or of something below it. */
export function isCurrent({ path }: PageEntry, address: string): boolean {
  const place = address.slice(ROOT.length);
  return path === '' ? place === '' : place === path || place.startsWith(`${path}/`);
}

/**
 * A page that is read when it is first shown, together with the texts of such pages. Where its script cannot
 * be had, drawing the page throws why; the next drawing asks for it again.
 */
function loaded(load: () => Promise<{ default: ComponentType }>): ComponentType {
  const ask = () =>
    lazy(async () => {
      try {
        const [page] = await Promise.all([load(), import('../texts/pages.ts')]);
        return page;
      } catch (cause) {
        Page = ask();
        const fail = (): never => {
          throw cause;
        };
        return { default: fail };
      }
    });
  let Page = ask();
  return () => <Page />;
}

const Home = loaded(() => import('../pages/home/home.tsx'));
const TaskPage = loaded(() => import('../pages/task/task.tsx'));
const Create = loaded(() => import('../pages/create/create.tsx'));
const Models = loaded(() => import('../pages/models/models.tsx'));
const Calls = loaded(() => import('../pages/calls/calls.tsx'));
const Usage = loaded(() => import('../pages/usage/usage.tsx'));
const Credits = loaded(() => import('../pages/credits/credits.tsx'));
const Keys = loaded(() => import('../pages/keys/keys.tsx'));
const Webhooks = loaded(() => import('../pages/webhooks/webhooks.tsx'));
const WebhookPage = loaded(() => import('../pages/webhooks/webhook.tsx'));
const Account = loaded(() => import('../pages/account/account.tsx'));
const AdminTasks = loaded(() => import('../pages/admin/tasks.tsx'));
const AdminTask = loaded(() => import('../pages/admin/task.tsx'));
const AdminUser = loaded(() => import('../pages/admin/user.tsx'));
const AdminUsers = loaded(() => import('../pages/admin/users.tsx'));
const AdminCodes = loaded(() => import('../pages/admin/codes.tsx'));
const AdminUsage = loaded(() => import('../pages/admin/usage.tsx'));
const AdminWebhooks = loaded(() => import('../pages/admin/webhooks.tsx'));
const AdminWebhook = loaded(() => import('../pages/admin/webhook.tsx'));
const AdminVendors = loaded(() => import('../pages/admin/vendors.tsx'));
const AdminAudit = loaded(() => import('../pages/admin/audit.tsx'));

export function Pages({ onChange }: { onChange: () => void }) {
  return (
    <Router onRouteChange={onChange}>
      <Route path={ROOT} component={Home} />
      <Route path={`${ROOT}tasks`} component={Tasks} />
      <Route path={`${ROOT}tasks/:id`} component={TaskPage} />
      <Route path={`${ROOT}create`} component={Create} />
      <Route path={`${ROOT}models`} component={Models} />
      <Route path={`${ROOT}calls`} component={Calls} />
      <Route path={`${ROOT}usage`} component={Usage} />
      <Route path={`${ROOT}credits`} component={Credits} />
      <Route path={`${ROOT}keys`} component={Keys} />
      <Route path={`${ROOT}webhooks`} component={Webhooks} />
      <Route path={`${ROOT}webhooks/:id`} component={WebhookPage} />
      <Route path={`${ROOT}account`} component={Account} />
      <Route path={`${ROOT}admin/tasks`} component={AdminTasks} />
      <Route path={`${ROOT}admin/tasks/:id`} component={AdminTask} />
      <Route path={`${ROOT}admin/users/:id`} component={AdminUser} />
      <Route path={`${ROOT}admin/users`} component={AdminUsers} />
      <Route path={`${ROOT}admin/codes`} component={AdminCodes} />
      <Route path={`${ROOT}admin/usage`} component={AdminUsage} />
      <Route path={`${ROOT}admin/webhooks`} component={AdminWebhooks} />
      <Route path={`${ROOT}admin/webhooks/:id`} component={AdminWebhook} />
      <Route path={`${ROOT}admin/vendors`} component={AdminVendors} />
      <Route path={`${ROOT}admin/audit`} component={AdminAudit} />
      <Route default component={Missing} />
    </Router>
  );
}

/** The page at an address. Where drawing it throws, a sentence takes its place until the address changes. */
function Route({ component: Page }: { component: ComponentType; path?: string; default?: boolean }) {
  const { url } = useLocation();
  const brokenAt = useRef('');
  const [error, drawAgain] = useErrorBoundary((cause) => {
    brokenAt.current = url;
    reportError(cause);
  });
  const retry = (): void => {
    // What the page had read may be what it breaks of.
    client.removeQueries({ type: 'inactive' });
    drawAgain();
  };
  return error && brokenAt.current === url ? <Broken onRetry={retry} /> : <Page />;
}

function Broken({ onRetry }: { onRetry: () => void }) {
  useEffect(endFirstLook, []);
  return (
    <Empty isPage icon="warning" title={t.broken.title} note={t.broken.note}>
      <Button icon="retry" onClick={onRetry}>
        {t.tryAgain}
      </Button>
    </Empty>
  );
}

function Missing() {
  useEffect(endFirstLook, []);
  return (
    <Empty isPage icon="search" title={t.missing.title} note={t.missing.note}>
      <a class="button" href={ROOT}>
        {t.pages.home}
      </a>
    </Empty>
  );
}
