// An error as people read it: a sentence, the way on, and the request id to quote.
import { ApiError } from '../data/api-error.ts';
import { to } from '../data/addresses.ts';
import { sentenceOf, t } from '../texts/index.ts';
import { formatCredits } from './format.ts';
import { Button } from './controls.tsx';
import { Copy, Notice } from './parts.tsx';

interface ProblemProps {
  error: unknown;
  onRetry?: () => void;
}

/** Shows nothing for no error, and for a verification that the user gave up. */
export function Problem({ error, onRetry }: ProblemProps) {
  if (
    !error ||
    (error instanceof ApiError &&
      (error.code === 'not_verified' || (error.status === 401 && error.code === 'not_authenticated')))
  )
    return null;
  const known = error instanceof ApiError ? error : null;
  return (
    <Notice look="bad">
      <div class="stack tight">
        <span>{known ? sentenceOf(known) : t.errors.internal_error}</span>
        {known?.code === 'insufficient_credits' && known.required !== null && (
          <span class="soft">
            {t.needs(formatCredits(known.required), formatCredits(known.available))}{' '}
            <a class="link" href={to('credits')}>
              {t.pages.credits}
            </a>
          </span>
        )}
        {known?.retryAfterSeconds && <span class="soft">{t.tryAgainIn(known.retryAfterSeconds)}</span>}
        <span class="row wrap">
          {onRetry && (
            <Button isSmall icon="retry" onClick={onRetry}>
              {t.tryAgain}
            </Button>
          )}
          {known?.requestId && (
            <span class="small soft row">
              {t.requestId} <Copy text={known.requestId} />
            </span>
          )}
        </span>
      </div>
    </Notice>
  );
}
