// Input images of an order: dropped, chosen, pasted as links.
import { useState } from 'preact/hooks';
import type { Draft, InputImage } from '../../data/kept-draft.ts';
import type { ShownModel } from '../../data/queries.ts';
import { t } from '../../texts/pages.ts';
import { Choices } from '../../ui/controls.tsx';
import { Icon } from '../../ui/icons.tsx';
import type { ChangeDraft, Offer } from './draft.ts';
import { FileButton } from './file-button.tsx';
import { LinkField } from './link-field.tsx';

const TYPES = 'image/png,image/jpeg,image/webp';
const MEGABYTES_MAX = 20;

interface InputsProps {
  model: ShownModel;
  draft: Draft;
  offer: Offer;
  onChange: ChangeDraft;
}

export function Inputs({ model, draft, offer, onChange }: InputsProps) {
  const [isOver, setOver] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const takesFiles = !model.limits.inputImagesAsUrls;
  const add = (images: readonly InputImage[]): void =>
    onChange((latest) => ({ images: [...latest.images, ...images].slice(0, offer.imagesMax) }));
  const addFiles = async (files: readonly File[]): Promise<void> => {
    const chosen = files.filter(({ type }) => TYPES.includes(type));
    const isTooLarge = chosen.some(({ size }) => size > MEGABYTES_MAX * 1024 * 1024);
    setProblem(isTooLarge ? t.create.tooLarge(MEGABYTES_MAX) : takesFiles ? null : t.create.onlyLinks);
    if (!isTooLarge && takesFiles) add(await Promise.all(chosen.map(readImage)));
  };
  return (
    <div class="field">
      <span class="label">{t.create.inputs}</span>
      <div
        class={isOver ? 'drop over' : 'drop'}
        onDragOver={(event) => {
          event.preventDefault();
          setOver(true);
        }}
        onDragLeave={() => setOver(false)}
        onDrop={(event) => {
          event.preventDefault();
          setOver(false);
          void addFiles([...(event.dataTransfer?.files ?? [])]);
        }}
      >
        <Pictures
          images={draft.images}
          onRemove={(at) => onChange({ images: draft.images.toSpliced(at, 1) })}
        />
        {draft.images.length < offer.imagesMax && (
          <div class="row wrap">
            {takesFiles && (
              <FileButton
                label={t.create.choose}
                types={TYPES}
                hasMany
                onFiles={(files) => void addFiles(files)}
              />
            )}
            <LinkField onLink={(url) => add([{ url, preview: null, bytes: 0 }])} />
          </div>
        )}
        <span class={problem ? 'small bad' : 'hint'}>
          {problem ??
            (offer.imagesMin > draft.images.length
              ? t.create.inputsNeeded
              : t.create.inputsHint(offer.imagesMax))}
        </span>
      </div>
      {offer.uses.length > 1 && (
        <Choices
          label={t.create.roles}
          value={offer.use}
          options={offer.uses.map((value) => ({ value, label: t.create.uses[value] }))}
          onValue={(role) => onChange({ role })}
        />
      )}
    </div>
  );
}

function Pictures({ images, onRemove }: { images: readonly InputImage[]; onRemove: (at: number) => void }) {
  if (images.length === 0) return null;
  return (
    <ul class="inputs">
      {images.map(({ url, preview }, at) => (
        <li key={`${at} ${url.slice(-40)}`} class="input-image" title={preview ? undefined : url}>
          {preview ? <img src={preview} alt="" /> : <Icon name="image" size={22} />}
          <button type="button" aria-label={`${t.create.remove} ${at + 1}`} onClick={() => onRemove(at)}>
            <Icon name="cross" size={12} />
          </button>
        </li>
      ))}
    </ul>
  );
}

function readImage(file: File): Promise<InputImage> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener('load', () =>
      resolve({
        url: typeof reader.result === 'string' ? reader.result : '',
        preview: URL.createObjectURL(file),
        bytes: file.size,
      }),
    );
    reader.addEventListener('error', () => reject(reader.error ?? new Error('unreadable')));
    reader.readAsDataURL(file);
  });
}
