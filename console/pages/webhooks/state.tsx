// The state of an endpoint, by word and colour.
import type { Webhook } from '../../data/types.ts';
import { t } from '../../texts/pages.ts';

export function WebhookState({ webhook }: { webhook: Pick<Webhook, 'disabledAt' | 'failingSince'> }) {
  if (webhook.disabledAt !== null) return <span class="tag bad">{t.webhooks.disabled}</span>;
  if (webhook.failingSince !== null) return <span class="tag warn">{t.webhooks.failing}</span>;
  return <span class="tag good">{t.webhooks.enabled}</span>;
}
