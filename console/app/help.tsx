// The list of shortcuts.
import { t } from '../texts/index.ts';
import { Dialog } from '../ui/dialog.tsx';
import { ACCOUNT_PAGE, MAIN_PAGES, MONEY_PAGES } from './pages.tsx';

export function Help({ onClose }: { onClose: () => void }) {
  const rows: [keys: string[], meaning: string][] = [
    [['Ctrl', 'K'], t.keyHelp.palette],
    [['/'], t.keyHelp.filter],
    [['j'], t.keyHelp.next],
    [['k'], t.keyHelp.previous],
    [['Enter'], t.keyHelp.open],
    [['x'], t.keyHelp.select],
    [['c'], t.keyHelp.create],
    [['?'], t.keyHelp.help],
    ...[...MAIN_PAGES, ...MONEY_PAGES, ACCOUNT_PAGE].map(({ key = '', name }): [string[], string] => [
      ['g', key],
      t.pages[name],
    ]),
  ];
  return (
    <Dialog title={t.keyHelp.title} onClose={onClose}>
      <dl class="dialog-body shortcuts">
        {rows.map(([keys, meaning]) => (
          <>
            <dt class="row">
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{meaning}</dd>
          </>
        ))}
      </dl>
    </Dialog>
  );
}
