// Input videos of an order: uploaded from this machine, or given as links.
import { useState } from 'preact/hooks';
import type { Draft } from '../../data/kept-draft.ts';
import { uploadVideo } from '../../data/upload.ts';
import { t } from '../../texts/pages.ts';
import { formatBytes } from '../../ui/format.ts';
import { Icon } from '../../ui/icons.tsx';
import { Problem } from '../../ui/problem.tsx';
import type { ChangeDraft, Offer } from './draft.ts';
import { FileButton } from './file-button.tsx';
import { LinkField } from './link-field.tsx';

const TYPES = 'video/mp4,video/quicktime,video/webm';

interface InputVideosProps {
  draft: Draft;
  offer: Offer;
  onChange: ChangeDraft;
}

export function InputVideos({ draft, offer, onChange }: InputVideosProps) {
  const [sending, setSending] = useState<{ name: string; share: number } | null>(null);
  const [error, setError] = useState<unknown>(null);
  const add = (video: Draft['videos'][number]): void =>
    onChange(({ videos }) => ({ videos: [...videos, video].slice(0, offer.videosMax) }));
  const send = async (file: File | undefined): Promise<void> => {
    if (!file || sending) return;
    setError(null);
    setSending({ name: file.name, share: 0 });
    try {
      const { url, filename, bytes } = await uploadVideo(file, (share) =>
        setSending({ name: file.name, share }),
      );
      add({ url, name: `${filename} · ${formatBytes(bytes)}` });
    } catch (refusal) {
      setError(refusal);
    } finally {
      setSending(null);
    }
  };
  return (
    <div class="field">
      <span class="label">{t.create.videos}</span>
      <div class="drop">
        <ul class="stack tight">
          {draft.videos.map(({ url, name }, at) => (
            <li key={url} class="input-video">
              <Icon name="video" class="faint" />
              <span class="grow cut note">{name}</span>
              <button
                type="button"
                class="button small quiet icon"
                aria-label={`${t.create.remove} ${name}`}
                onClick={() => onChange({ videos: draft.videos.toSpliced(at, 1) })}
              >
                <Icon name="cross" size={12} />
              </button>
            </li>
          ))}
          {sending && (
            <li class="input-video">
              <Icon name="video" class="faint" />
              <span class="grow cut note">{sending.name}</span>
              <progress value={sending.share} max={1} aria-label={t.create.sending} />
            </li>
          )}
        </ul>
        {draft.videos.length < offer.videosMax && (
          <div class="row wrap">
            <FileButton
              label={t.create.chooseVideo}
              types={TYPES}
              disabled={sending !== null}
              onFiles={([file]) => void send(file)}
            />
            <LinkField onLink={(url) => add({ url, name: url })} />
          </div>
        )}
        <span class="hint">{t.create.videosHint(offer.videosMax)}</span>
        <Problem error={error} />
      </div>
    </div>
  );
}
