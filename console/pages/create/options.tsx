// The choices that a model offers: number, resolution, format, duration, sound, length of a text.
import type { ShownModel } from '../../data/queries.ts';
import { t } from '../../texts/pages.ts';
import { Choices, Field, TextField } from '../../ui/controls.tsx';
import type { Draft } from '../../data/kept-draft.ts';
import type { Offer } from './draft.ts';

/** Up to so many durations are shown side by side; more become a slider. */
const DURATIONS_SHOWN = 5;

interface OptionsProps {
  model: ShownModel;
  draft: Draft;
  offer: Offer;
  onChange: (changes: Partial<Draft>) => void;
}

export function Options({ model, draft, offer, onChange }: OptionsProps) {
  const all = model.limits.resolutions ?? [];
  return (
    <>
      {all.length > 1 && (
        <Choices
          label={t.create.resolution}
          value={draft.resolution}
          options={all.map((value) => ({
            value,
            label: value,
            refusal: offer.resolutions.includes(value) ? undefined : t.create.notTogether,
          }))}
          onValue={(resolution) => onChange({ resolution })}
        />
      )}
      {offer.ratios.length > 1 && (
        <Choices
          label={t.create.ratio}
          value={draft.ratio}
          options={offer.ratios.map((value) => ({ value, label: <Ratio value={value} /> }))}
          onValue={(ratio) => onChange({ ratio })}
        />
      )}
      {model.limits.durations && <Duration draft={draft} offer={offer} onChange={onChange} />}
      {offer.audio.length > 0 && (
        <Choices
          label={t.create.audio}
          value={String(draft.audio)}
          options={[true, false].map((value) => ({
            value: String(value),
            label: value ? t.create.withSound : t.create.silent,
            refusal: offer.audio.includes(value) ? undefined : t.create.notTogether,
          }))}
          onValue={(value) => onChange({ audio: value === 'true' })}
        />
      )}
      {offer.countMax > 1 && (
        <Field label={`${t.create.count}: ${draft.count}`}>
          {(attributes) => (
            <input
              type="range"
              min={1}
              max={offer.countMax}
              {...attributes}
              value={draft.count}
              onInput={({ currentTarget }) => onChange({ count: Number(currentTarget.value) })}
            />
          )}
        </Field>
      )}
      <ModelOptions model={model} draft={draft} onChange={onChange} />
      {model.kind === 'text' && (
        <TextField
          label={t.create.answerTokens}
          inputMode="numeric"
          placeholder={String(model.limits.outputTokensMax ?? '')}
          value={draft.answerTokens > 0 ? String(draft.answerTokens) : ''}
          onValue={(value) => onChange({ answerTokens: Math.max(0, Math.floor(Number(value) || 0)) })}
        />
      )}
    </>
  );
}

/** What this model alone takes: quality, seed, what must not be seen. */
function ModelOptions({ model, draft, onChange }: Pick<OptionsProps, 'model' | 'draft' | 'onChange'>) {
  const { quality, seed, negativePrompt, watermark, promptExtension } = model.limits.options ?? {};
  return (
    <>
      {quality && (
        <Choices
          label={t.create.quality}
          value={draft.quality}
          options={['', ...quality].map((value) => ({ value, label: value || t.create.asUsual }))}
          onValue={(value) => onChange({ quality: value })}
        />
      )}
      {negativePrompt && (
        <TextField
          label={t.create.negativePrompt}
          value={draft.negativePrompt}
          maxLength={negativePrompt.charactersMax}
          onValue={(value) => onChange({ negativePrompt: value })}
        />
      )}
      {seed && (
        <TextField
          label={t.create.seed}
          hint={t.create.seedHint}
          inputMode="numeric"
          value={draft.seed}
          onValue={(value) => onChange({ seed: value.replaceAll(/\D/g, '') })}
        />
      )}
      {promptExtension && (
        <label class="check note">
          <input
            type="checkbox"
            checked={draft.promptExtend}
            onChange={() => onChange({ promptExtend: !draft.promptExtend })}
          />
          {t.create.promptExtend}
        </label>
      )}
      {watermark && (
        <label class="check note">
          <input
            type="checkbox"
            checked={draft.watermark}
            onChange={() => onChange({ watermark: !draft.watermark })}
          />
          {t.create.watermark}
        </label>
      )}
    </>
  );
}

function Duration({ draft, offer, onChange }: Pick<OptionsProps, 'draft' | 'offer' | 'onChange'>) {
  if (offer.seconds.length <= DURATIONS_SHOWN)
    return (
      <Choices
        label={t.create.duration}
        value={String(draft.seconds)}
        options={offer.seconds.map((value) => ({ value: String(value), label: t.create.seconds(value) }))}
        onValue={(value) => onChange({ seconds: Number(value) })}
      />
    );
  return (
    <Field label={`${t.create.duration}: ${t.create.seconds(draft.seconds)}`}>
      {(attributes) => (
        <input
          type="range"
          min={offer.seconds[0]}
          max={offer.seconds.at(-1)}
          {...attributes}
          value={draft.seconds}
          onInput={({ currentTarget }) => onChange({ seconds: Number(currentTarget.value) })}
        />
      )}
    </Field>
  );
}

const BOX = 14;

/** A ratio such as 16:9, with its form drawn. */
function Ratio({ value }: { value: string }) {
  const [width = 1, height = 1] = value.split(':').map(Number);
  if (!(width > 0 && height > 0)) return <>{value}</>;
  const scale = BOX / Math.max(width, height);
  return (
    <>
      <svg width={BOX} height={BOX} viewBox={`0 0 ${BOX} ${BOX}`} aria-hidden="true">
        <rect
          x={(BOX - width * scale) / 2 + 0.75}
          y={(BOX - height * scale) / 2 + 0.75}
          width={Math.max(1, width * scale - 1.5)}
          height={Math.max(1, height * scale - 1.5)}
          rx="1.5"
          fill="none"
          stroke="currentColor"
          stroke-width="1.5"
        />
      </svg>
      {value}
    </>
  );
}
