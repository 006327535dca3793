// The outbox of webhooks in two: deliveries before their first attempt, and those that are to be tried again.
import { Migration } from '@mikro-orm/migrations';

export class Migration095WebhookOutbox extends Migration {
  override up(): void {
    this.addSql(OUTBOX);
  }
}

/**
 * Looking for first attempts must not step over the endpoints that only have later ones, which can be many
 * and stay for days. The statements of an old process need the index that goes for their speed only.
 */
const OUTBOX = `
create index webhook_delivery_first on webhook_delivery (endpoint_id, relay_after) where state = 'pending' and attempts = 0;
create index webhook_delivery_again on webhook_delivery (endpoint_id, relay_after) where state = 'pending' and attempts > 0;
drop index webhook_delivery_pending;
`;
