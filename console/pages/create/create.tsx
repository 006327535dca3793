// Create: one form for images, videos and texts, made from what the chosen model offers, with the price
// beside it.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { useAbout, useMe, useModels, useTask, type ShownModel } from '../../data/queries.ts';
import type { Task, TaskMode } from '../../data/types.ts';
import { t } from '../../texts/pages.ts';
import { Choices, Field } from '../../ui/controls.tsx';
import { formatCount } from '../../ui/format.ts';
import { Card, Empty, Head, Skeleton } from '../../ui/parts.tsx';
import { Icon } from '../../ui/icons.tsx';
import { Problem } from '../../ui/problem.tsx';
import { promptOf } from '../../data/prompts.ts';
import { EMPTY_DRAFT, fitDraft, offerOf, type ChangeDraft } from './draft.ts';
import { Examples } from './examples.tsx';
import { Inputs } from './inputs.tsx';
import { forgetDraft, keepDraft, readDraft, type Draft } from '../../data/kept-draft.ts';
import { InputVideos } from './input-videos.tsx';
import { Options } from './options.tsx';
import { PricePanel } from './price-panel.tsx';

const MODES: readonly TaskMode[] = ['image', 'video', 'text'];

export default function Create() {
  const { query } = useLocation();
  const models = useModels();
  const like = useTask(query['like'] ?? '', Boolean(query['like'])).data;
  if (models.isError || models.isPending || (query['like'] && !like))
    return (
      <>
        <Head title={t.pages.create} note={t.create.note} />
        <Problem error={models.error} onRetry={() => void models.refetch()} />
        {!models.isError && (
          <Card>
            <Skeleton lines={7} />
          </Card>
        )}
      </>
    );
  return (
    <Form key={`${like?.id} ${query['model']}`} models={models.data} like={like} wanted={query['model']} />
  );
}

function Form({
  models,
  like,
  wanted,
}: {
  models: ShownModel[];
  like: Task | undefined;
  wanted: string | undefined;
}) {
  const userId = useMe().data?.id ?? '';
  const [kept] = useState(() => (like ? null : readDraft(userId)));
  const first =
    models.find(({ id }) => id === (like?.model ?? wanted ?? kept?.model)) ??
    models.find(({ kind }) => kind === 'image') ??
    models[0];
  const [modelId, setModelId] = useState(first?.id);
  const [draft, setDraft] = useState<Draft>(() => (like ? draftOf(like) : (kept?.draft ?? EMPTY_DRAFT)));
  const about = useAbout().data;
  const model = models.find(({ id }) => id === modelId);
  const fitted = useMemo(() => (model ? fitDraft(model, draft) : draft), [model, draft]);
  useEffect(() => setDraft(fitted), [modelId]);
  useEffect(() => {
    if (isEmpty(fitted)) forgetDraft();
    else if (modelId) keepDraft(userId, { model: modelId, draft: fitted });
  }, [fitted, modelId]);
  // What an upload adds comes long after the drawing that began it: much may have been typed since.
  const latest = useRef(fitted);
  latest.current = fitted;
  const change: ChangeDraft = (changes) => {
    const given = typeof changes === 'function' ? changes(latest.current) : changes;
    latest.current = { ...latest.current, ...given };
    setDraft(latest.current);
  };
  if (!model) return <Empty icon="models" title={t.create.noModels} note={t.create.noModelsNote} />;
  const offer = offerOf(model, fitted);
  return (
    <>
      <Head title={t.pages.create} note={t.create.note} />
      <div class="columns ordering">
        <div class="stack loose">
          <section class="card">
            <div class="card-body stack">
              <ModelChoice models={models} model={model} onModel={setModelId} />
              <Prompt model={model} draft={fitted} onPrompt={(prompt) => change({ prompt })} />
              <div class="options wide">
                <Options model={model} draft={fitted} offer={offer} onChange={change} />
              </div>
              {offer.imagesMax > 0 && <Inputs model={model} draft={fitted} offer={offer} onChange={change} />}
              {offer.videosMax > 0 && <InputVideos draft={fitted} offer={offer} onChange={change} />}
            </div>
          </section>
          {about?.sandbox && <Examples model={model} onPrompt={(prompt) => change({ prompt })} />}
        </div>
        <div class="sticky">
          <PricePanel model={model} draft={fitted} offer={offer} />
        </div>
      </div>
    </>
  );
}

/** Whether nothing of it would be missed. */
function isEmpty({ prompt, images, videos }: Draft): boolean {
  return prompt === '' && images.length === 0 && videos.length === 0;
}

/** What the earlier order said, as far as it is kept: input files are masked and have to be chosen again. */
function draftOf(task: Task): Draft {
  const {
    resolution,
    size,
    aspect_ratio: ratio,
    duration,
    n,
    max_tokens: tokens,
    metadata,
  } = task.requestPayload;
  const options = (typeof metadata === 'object' ? metadata : null) as Record<string, unknown> | null;
  return {
    ...EMPTY_DRAFT,
    prompt: promptOf(task) ?? '',
    resolution: textOf(resolution),
    ratio: textOf(size ?? ratio),
    seconds: Number(duration ?? 0),
    count: Number(n ?? 1),
    answerTokens: Number(tokens ?? 0),
    audio: options?.['audio'] !== false,
    seed: typeof options?.['seed'] === 'number' ? String(options['seed']) : '',
    negativePrompt: textOf(options?.['negative_prompt']),
    quality: textOf(options?.['quality']),
    watermark: options?.['watermark'] === true,
    promptExtend: options?.['prompt_extend'] !== false,
  };
}

function ModelChoice({
  models,
  model,
  onModel,
}: {
  models: ShownModel[];
  model: ShownModel;
  onModel: (id: string) => void;
}) {
  const ofKind = models.filter(({ kind }) => kind === model.kind);
  return (
    <div class="model-choice">
      <Choices
        label={t.create.kind}
        isSegmented
        value={model.kind}
        options={MODES.map((value) => ({
          value,
          label: (
            <>
              <Icon name={value} size={14} />
              {t.modes[value]}
            </>
          ),
          refusal: models.some(({ kind }) => kind === value) ? undefined : t.create.noModels,
        }))}
        onValue={(kind) => onModel(models.find((one) => one.kind === kind)?.id ?? model.id)}
      />
      <Field label={t.create.model}>
        {({ id }) => (
          <span class="select-box">
            <select
              id={id}
              class="select"
              value={model.id}
              onChange={({ currentTarget }) => onModel(currentTarget.value)}
            >
              {groupByFamily(ofKind).map(([family, members]) => (
                <optgroup key={family} label={family}>
                  {members.map((one) => (
                    <option key={one.id} value={one.id} selected={one.id === model.id}>
                      {one.id}
                    </option>
                  ))}
                </optgroup>
              ))}
            </select>
          </span>
        )}
      </Field>
    </div>
  );
}

function groupByFamily(models: readonly ShownModel[]): [string, ShownModel[]][] {
  return [...Map.groupBy(models, ({ family }) => family)];
}

function Prompt({
  model,
  draft,
  onPrompt,
}: {
  model: ShownModel;
  draft: Draft;
  onPrompt: (prompt: string) => void;
}) {
  const left = model.limits.promptCharactersMax - [...draft.prompt].length;
  const hint =
    left < model.limits.promptCharactersMax / 5 ? t.create.promptHint(formatCount(left)) : undefined;
  return (
    <Field label={t.create.prompt} hint={hint} error={left < 0 ? (hint ?? null) : null}>
      {(attributes) => (
        <textarea
          class="area"
          rows={5}
          {...attributes}
          placeholder={t.create.promptPlaceholder[model.kind]}
          value={draft.prompt}
          onInput={({ currentTarget }) => onPrompt(currentTarget.value)}
        />
      )}
    </Field>
  );
}

/** A text of the payload; empty where it holds none. */
function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
