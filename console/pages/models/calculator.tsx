// What a video of so many seconds costs at every model that can make it, cheapest first.
import { keepPreviousData, useQuery } from '@tanstack/preact-query';
import { useState } from 'preact/hooks';
import { to } from '../../data/addresses.ts';
import { call } from '../../data/call.ts';
import { client } from '../../data/client.ts';
import type { ShownModel } from '../../data/queries.ts';
import type { Estimate, TaskOrder } from '../../data/types.ts';
import { t } from '../../texts/pages.ts';
import { Choices, Field } from '../../ui/controls.tsx';
import { formatCredits } from '../../ui/format.ts';
import { Problem } from '../../ui/problem.tsx';
import { EMPTY_DRAFT, offerOf, orderOf } from '../create/draft.ts';

const RESOLUTIONS = ['480p', '720p', '1080p', '4k'];
const SHOWN_MAX = 8;
const ASKED_MAX = 30;
const HOUR_MS = 3_600_000;

export function Calculator({ models }: { models: readonly ShownModel[] }) {
  const [isOpen, setOpen] = useState(false);
  if (models.length === 0) return null;
  return (
    <details class="card" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary class="card-head">
        <h2>{t.models.calculator}</h2>
      </summary>
      {isOpen && <Prices models={models} />}
    </details>
  );
}

function Prices({ models }: { models: readonly ShownModel[] }) {
  const [resolution, setResolution] = useState('720p');
  const [seconds, setSeconds] = useState(8);
  const draft = { ...EMPTY_DRAFT, resolution, seconds };
  const able = models
    .filter((model) => {
      const offer = offerOf(model, draft);
      return (
        offer.resolutions.includes(resolution) && offer.seconds.includes(seconds) && offer.imagesMin === 0
      );
    })
    .slice(0, ASKED_MAX);
  const orders = able.map((model) => {
    const ratios = model.limits.ratios ?? [];
    const audio = offerOf(model, draft).audio[0] ?? true;
    const ratio = ratios.includes('16:9') ? '16:9' : (ratios[0] ?? '');
    return orderOf(model, { ...draft, ratio, audio }, true);
  });
  const prices = useQuery({
    queryKey: ['calculator', orders],
    placeholderData: keepPreviousData,
    queryFn: () =>
      Promise.all(
        orders.map(async (order) => ({
          id: order.model,
          credits: (await priceOf(order)).creditsEstimate,
        })),
      ),
  });
  const sorted = (prices.data ?? []).toSorted((one, other) => one.credits - other.credits);
  const max = Math.max(1, ...sorted.map(({ credits }) => credits));
  return (
    <div class="card-body stack">
      <div class="options wide">
        <Choices
          label={t.create.resolution}
          value={resolution}
          options={RESOLUTIONS.map((value) => ({ value, label: value }))}
          onValue={setResolution}
        />
        <Field label={`${t.create.duration}: ${t.create.seconds(seconds)}`}>
          {(attributes) => (
            <input
              type="range"
              min={2}
              max={20}
              {...attributes}
              value={seconds}
              onInput={({ currentTarget }) => setSeconds(Number(currentTarget.value))}
            />
          )}
        </Field>
      </div>
      <Problem error={prices.error} onRetry={() => void prices.refetch()} />
      <ul class="stack tight">
        {sorted.slice(0, SHOWN_MAX).map(({ id, credits }) => (
          <li key={id} class="price-bar note">
            <a class="cut link" href={to('create', { model: id })}>
              {id}
            </a>
            <span class="meter" aria-hidden="true">
              <i style={{ width: `${(credits / max) * 100}%` }} />
            </span>
            <span class="number strong">{formatCredits(credits)}</span>
          </li>
        ))}
        {sorted.length === 0 && able.length === 0 && <li class="faint">{t.models.nothing}</li>}
      </ul>
    </div>
  );
}

/** The price of an order, as the form of it asks for it: what one has read, the other shows. */
function priceOf(body: TaskOrder): Promise<Estimate> {
  return client.fetchQuery({
    queryKey: ['estimate', JSON.stringify(body)],
    staleTime: HOUR_MS,
    queryFn: async () => (await call('POST /api/estimates', { body })).data,
  });
}
