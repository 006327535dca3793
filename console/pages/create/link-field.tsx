// A field that takes an https link.
import { useState } from 'preact/hooks';
import { t } from '../../texts/pages.ts';
import { Button } from '../../ui/controls.tsx';

export function LinkField({ onLink }: { onLink: (url: string) => void }) {
  const [url, setUrl] = useState('');
  const add = (): void => {
    if (!url.startsWith('https://')) return;
    onLink(url.trim());
    setUrl('');
  };
  return (
    <div class="row grow">
      <input
        class="input"
        type="url"
        aria-label={t.create.addLink}
        placeholder={t.create.addLink}
        value={url}
        onInput={({ currentTarget }) => setUrl(currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter') return;
          event.preventDefault();
          add();
        }}
      />
      <Button isSmall disabled={!url.startsWith('https://')} onClick={add}>
        {t.create.add}
      </Button>
    </div>
  );
}
