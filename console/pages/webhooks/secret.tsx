// The secret of an endpoint when it is new, and a receiver that verifies with it.
import { t } from '../../texts/pages.ts';
import { Code } from '../../ui/parts.tsx';
import { ShownOnce } from '../../ui/shown-once.tsx';

const RECEIVER = `import { Webhook } from 'standardwebhooks';

app.post('/hooks', express.text({ type: 'application/json' }), (req, res) => {
  // Throws if it is forged.
  const event = new Webhook(process.env.WEBHOOK_SECRET).verify(req.body, req.headers);
  res.sendStatus(204); // answer first, then work
});`;

export function Secret({ secret, onClose }: { secret: string; onClose: () => void }) {
  return (
    <ShownOnce
      title={t.webhooks.secretTitle}
      note={t.webhooks.secretNote}
      secret={secret}
      done={t.webhooks.done}
      onClose={onClose}
    >
      <h3>{t.webhooks.verify}</h3>
      <Code text={RECEIVER} label={t.webhooks.verify} />
    </ShownOnce>
  );
}
