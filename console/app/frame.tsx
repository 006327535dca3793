// The frame around every page: rail, bottom bar, what is wrong with the connection, palette, shortcuts.
import { useEffect, useRef, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { ROOT } from '../data/addresses.ts';
import { firstLook, watchFirstLook } from '../data/first-look.ts';
import { useStore } from '../data/store.ts';
import { onTaskEnd } from '../data/ended-tasks.ts';
import { followEvents } from '../data/events.ts';
import { promptOf } from '../data/prompts.ts';
import type { User } from '../data/session.ts';
import type { Task } from '../data/types.ts';
import { t } from '../texts/index.ts';
import { announce } from '../ui/toasts.tsx';
import { ConnectionBand } from './connection-band.tsx';
import { Help } from './help.tsx';
import { Palette } from './palette.tsx';
import { Pages } from './pages.tsx';
import { BottomBar, Rail, TopBar } from './rail.tsx';
import { useShortcuts } from './shortcuts.ts';
import { to } from '../data/addresses.ts';

type Overlay = 'palette' | 'help' | null;

export function Frame({ user }: { user: User }) {
  const [overlay, setOverlay] = useState<Overlay>(null);
  const main = useRef<HTMLElement>(null);
  const { path } = useLocation();
  const isLooking = useStore(firstLook);
  useEffect(() => (isLooking ? undefined : watchFirstLook()), [isLooking]);
  useEffect(() => (isLooking ? followEvents() : undefined), [isLooking]);
  useEffect(() => onTaskEnd(announceEnd), []);
  useShortcuts({ openPalette: () => setOverlay('palette'), openHelp: () => setOverlay('help') });
  const address = path.length < ROOT.length ? ROOT : path;
  const close = (): void => setOverlay(null);
  return (
    <>
      <a class="button skip" href="#page" onClick={() => main.current?.focus()}>
        {t.skip}
      </a>
      <div class="frame">
        <Rail user={user} address={address} onSearch={() => setOverlay('palette')} />
        <TopBar />
        <div class="grow">
          <ConnectionBand />
          <main id="page" class="page" ref={main} tabIndex={-1}>
            <div class="page-inner">
              <Pages onChange={() => focusTitle(main.current)} />
            </div>
          </main>
        </div>
        <BottomBar user={user} address={address} />
      </div>
      {overlay === 'palette' && <Palette user={user} onClose={close} />}
      {overlay === 'help' && <Help onClose={close} />}
    </>
  );
}

/** Tells readers of the screen that there is another page, and begins at its top. */
function focusTitle(main: HTMLElement | null): void {
  scrollTo(0, 0);
  main?.querySelector<HTMLElement>('h1')?.focus({ preventScroll: true });
}

function announceEnd(task: Task): void {
  const icon = task.status === 'completed' ? 'check' : task.status === 'failed' ? 'warning' : 'stop';
  const about = { href: to(`tasks/${task.id}`), detail: promptOf(task) };
  announce(t.ended(t.modes[task.mode], t.statuses[task.status]), icon, about);
}
