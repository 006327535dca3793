// Models: what there is, what may be ordered and what it costs, with a small calculator for videos.
import { useState } from 'preact/hooks';
import { to } from '../../data/addresses.ts';
import { useFilters } from '../../data/filters.ts';
import { useModels, type ShownModel } from '../../data/queries.ts';
import type { TaskMode } from '../../data/types.ts';
import { t } from '../../texts/pages.ts';
import { ButtonLink, Choices } from '../../ui/controls.tsx';
import { FilterSelect } from '../../ui/filter-select.tsx';
import { formatCount, formatCredits, formatDuration } from '../../ui/format.ts';
import { Icon } from '../../ui/icons.tsx';
import { Card, Copy, Empty, Head, Skeleton } from '../../ui/parts.tsx';
import { Problem } from '../../ui/problem.tsx';
import { Calculator } from './calculator.tsx';

const PRICES_SHOWN = 4;

export default function Models() {
  const models = useModels();
  const [filters, change] = useFilters();
  const all = models.data ?? [];
  const wanted = (filters['q'] ?? '').toLowerCase();
  const shown = all.filter(
    ({ id, kind, family }) =>
      id.toLowerCase().includes(wanted) &&
      (!filters['kind'] || kind === filters['kind']) &&
      (!filters['family'] || family === filters['family']),
  );
  const families = [...new Set(all.map(({ family }) => family))].toSorted();
  return (
    <>
      <Head title={t.pages.models} note={t.models.note} />
      <div class="filters" role="search">
        <div class="search">
          <Icon name="search" size={14} />
          <input
            class="input"
            data-filter
            aria-label={t.models.search}
            placeholder={t.models.search}
            value={filters['q'] ?? ''}
            onInput={({ currentTarget }) => change({ q: currentTarget.value })}
          />
        </div>
        <Choices
          label={t.models.kind}
          isHiddenLabel
          isSegmented
          value={filters['kind'] ?? ''}
          options={[
            { value: '', label: t.all },
            ...(['image', 'video', 'text'] as TaskMode[]).map((kind) => ({
              value: kind as string,
              label: t.modes[kind],
            })),
          ]}
          onValue={(kind) => change({ kind })}
        />
        <FilterSelect
          name="family"
          label={t.models.vendor}
          any={t.models.anyVendor}
          options={families.map((family) => [family, family])}
        />
      </div>
      <Problem error={models.error} onRetry={() => void models.refetch()} />
      {models.isPending && (
        <Card>
          <Skeleton lines={8} />
        </Card>
      )}
      <Calculator models={shown.filter(({ kind }) => kind === 'video')} />
      {!models.isPending && shown.length === 0 ? (
        <Card>
          <Empty icon="models" title={t.models.nothing} />
        </Card>
      ) : (
        <ul class="models">
          {shown.map((model) => (
            <li key={model.id} class="card">
              <ModelCard model={model} />
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

function ModelCard({ model }: { model: ShownModel }) {
  const [isWhole, setWhole] = useState(false);
  const prices = isWhole ? model.price : model.price.slice(0, PRICES_SHOWN);
  return (
    <article class="model-card">
      <div class="row between">
        <h2 class="row">
          <Icon name={model.kind} class="faint" />
          <Copy text={model.id} isName />
        </h2>
        <ButtonLink
          isSmall
          href={to('create', { model: model.id })}
          aria-label={`${t.models.use}: ${model.id}`}
        >
          {t.models.use}
        </ButtonLink>
      </div>
      <div class="row wrap">
        <span class="tag">{model.family}</span>
        {model.usual_seconds && (
          <span class="tag">
            {t.models.usual}: {formatDuration(model.usual_seconds.p50 * 1000)}
          </span>
        )}
      </div>
      <dl class="price-list">
        {prices.map(({ item, unit, credits }) => (
          <div key={item}>
            <dt class="soft">{item}</dt>
            <dd class="strong">
              {formatCredits(credits)} <span class="faint small">{t.models.perUnit(unit)}</span>
            </dd>
          </div>
        ))}
      </dl>
      {model.price.length > PRICES_SHOWN && !isWhole && (
        <button type="button" class="link-button note" onClick={() => setWhole(true)}>
          {t.models.morePrices(model.price.length - PRICES_SHOWN)}
        </button>
      )}
      <hr />
      <Limits model={model} />
    </article>
  );
}

function Limits({ model: { limits } }: { model: ShownModel }) {
  const { durations } = limits;
  const facts: [string, string | undefined][] = [
    [
      t.models.durations,
      durations &&
        ('values' in durations
          ? `${durations.values.join(', ')} s`
          : t.models.range(durations.min, durations.max)),
    ],
    [t.models.resolutions, limits.resolutions?.join(', ')],
    [t.models.ratios, limits.ratios?.join(', ')],
    [t.models.inputs, limits.inputImagesMax ? t.models.upTo(formatCount(limits.inputImagesMax)) : undefined],
    [t.models.context, limits.contextTokens ? t.models.tokens(formatCount(limits.contextTokens)) : undefined],
  ];
  return (
    <dl class="facts">
      {facts.map(([name, value]) =>
        value === undefined ? null : (
          <>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </>
        ),
      )}
    </dl>
  );
}
