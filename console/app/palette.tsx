// The palette: finds pages, models, and anything by its id.
import { useMemo, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { to } from '../data/addresses.ts';
import { useModels } from '../data/queries.ts';
import type { User } from '../data/session.ts';
import { t } from '../texts/index.ts';
import { Dialog } from '../ui/dialog.tsx';
import { Icon, type IconName } from '../ui/icons.tsx';
import { ACCOUNT_PAGE, adminPagesOf, MAIN_PAGES, MONEY_PAGES } from './pages.tsx';

interface Entry {
  name: string;
  note: string;
  icon: IconName;
  href: string;
}

const ENTRIES_MAX = 12;
/** Where the thing with an id is shown, by the beginning of the id. */
const PLACES: Readonly<Record<string, (id: string) => string>> = {
  task: (id) => to(`tasks/${id}`),
  key: (id) => to('tasks', { keyId: id }),
  whk: (id) => to(`webhooks/${id}`),
  usr: (id) => to(`admin/users/${id}`),
  rdm: (id) => to('admin/codes', { id }),
  aud: () => to('admin/audit'),
  led: () => to('credits'),
  call: () => to('calls'),
};

export function Palette({ user, onClose }: { user: User; onClose: () => void }) {
  const [text, setText] = useState('');
  const [chosen, setChosen] = useState(0);
  const { route } = useLocation();
  const entries = useEntries(user, text);
  const index = Math.min(chosen, entries.length - 1);
  const open = (entry: Entry | undefined): void => {
    if (!entry) return;
    onClose();
    route(entry.href);
  };
  const onKey = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) {
      event.preventDefault();
      setChosen((index + step + entries.length) % Math.max(1, entries.length));
    } else if (event.key === 'Enter') open(entries[index]);
  };
  return (
    <Dialog title={t.search} class="palette" isBare onClose={onClose}>
      <div class="palette-input">
        <Icon name="search" />
        <input
          class="input bare"
          data-autofocus
          role="combobox"
          aria-label={t.search}
          aria-expanded="true"
          aria-controls="palette-list"
          aria-activedescendant={entries[index] ? `palette-${index}` : undefined}
          placeholder={t.palette.hint}
          value={text}
          onInput={({ currentTarget }) => {
            setText(currentTarget.value);
            setChosen(0);
          }}
          onKeyDown={onKey}
        />
      </div>
      <ul id="palette-list" class="palette-list" role="listbox" aria-label={t.search}>
        {entries.map((entry, at) => (
          <li
            key={entry.href + entry.name}
            id={`palette-${at}`}
            role="option"
            aria-selected={at === index}
            onMouseMove={() => setChosen(at)}
            onClick={() => open(entry)}
          >
            <Icon name={entry.icon} />
            <span class="cut">{entry.name}</span>
            <small>{entry.note}</small>
          </li>
        ))}
        {entries.length === 0 && <li class="faint">{t.palette.nothing}</li>}
      </ul>
    </Dialog>
  );
}

function useEntries(user: User, text: string): Entry[] {
  const models = useModels().data;
  return useMemo(() => {
    const wanted = text.trim().toLowerCase();
    const place = PLACES[/^([a-z]+)_[0-9a-z]{26}$/i.exec(wanted)?.[1] ?? ''];
    if (place) return [{ name: text.trim(), note: t.palette.id, icon: 'open', href: place(text.trim()) }];
    const pages = [...MAIN_PAGES, ...MONEY_PAGES, ACCOUNT_PAGE, ...adminPagesOf(user)].map(
      ({ path, name, icon }): Entry => ({ name: t.pages[name], note: t.palette.page, icon, href: to(path) }),
    );
    const offered = (models ?? []).map(({ id, kind }): Entry => ({
      name: id,
      note: t.modes[kind],
      icon: kind,
      href: to('create', { model: id }),
    }));
    const all = wanted === '' ? pages : [...pages, ...offered];
    return all.filter(({ name }) => name.toLowerCase().includes(wanted)).slice(0, ENTRIES_MAX);
  }, [user, text, models]);
}
