// Credits and calls: the statement adds up, a code is redeemed once, refunds and tokens of calls are shown.
import { expect } from 'chai';
import { COMMAND_LINE } from '../../../db/audit-log.ts';
import { refundTask } from '../../../db/ledger/refunds.ts';
import { parseCredits } from '../../../domain/credits.ts';
import { createAdministrator, makeCode } from '../../support/administrators.ts';
import { CALL_SECONDS_MAX, closeSound, type TestConsole } from '../../support/console/browser.ts';
import { ended, order } from '../../support/console/orders.ts';

const DAY_MS = 86_400_000;

export function testMoney(tested: () => TestConsole): void {
  describe('credits', () => {
    it('show a statement, and redeem a code once however often the button is pressed', async () => {
      const { gateway, open } = tested();
      const user = await gateway.createUser(100);
      const { code } = await makeCode(await createAdministrator(gateway), { credits: 25 });
      const page = await open(user, 'credits');
      await page.getByText('Test credits').waitFor();
      await page.getByLabel('Code').fill(code.toLowerCase());
      await page.getByRole('button', { name: 'Redeem' }).dblclick();
      await page.getByText('25 credits were added.').waitFor();
      await page.getByText('+25').waitFor();
      expect((await user.session.get('/api/balance')).body.data.available).to.equal(125);
      await page.getByLabel('Code').fill('SVC-NONE');
      await page.getByRole('button', { name: 'Redeem' }).click();
      await page.getByText('There is no such code.').waitFor();
      await gateway.expectSoundMoney();
      await closeSound(page);
    });
  });

  describe('the statement on a phone', () => {
    it('has the time and the balance after it below each move, so that equal ones differ', async () => {
      const { gateway, open } = tested();
      const user = await gateway.createUser(100);
      const page = await open(user, 'credits');
      await page.setViewportSize({ width: 390, height: 844 });
      const row = page.locator('tr', { hasText: 'Test credits' });
      const [amount, time, after] = [
        row.getByText('+100'),
        row.locator('time'),
        row.getByText('100', { exact: true }),
      ];
      await after.waitFor();
      const boxes = await Promise.all([amount, time, after].map((cell) => cell.boundingBox()));
      const [top, left, right] = boxes.map((box) => box ?? { x: 0, y: 0, width: 0, height: 0 });
      if (!top || !left || !right) throw new Error('a cell is not shown');
      expect(left.y).to.be.greaterThan(top.y);
      expect(right.y).to.be.greaterThan(top.y);
      expect(left.x + left.width).to.be.lessThan(right.x);
      await closeSound(page);
    });
  });

  describe('a refund', () => {
    it('is seen on the page of its task, by its owner and by administrators', async () => {
      const { gateway, open } = tested();
      const user = await gateway.createUser();
      const id = await order(user, 'a grey picture');
      await ended(user, id);
      const refund = { taskId: id, credits: parseCredits(1.5), note: 'Sorry' };
      await refundTask(gateway.em(), COMMAND_LINE, refund);
      const page = await open(user, `tasks/${id}`);
      await page.locator('.lines > div', { hasText: 'Refund' }).getByText('1.5', { exact: true }).waitFor();
      await closeSound(page);
      const other = await open(await createAdministrator(gateway), `admin/tasks/${id}`);
      await other.locator('.figure', { hasText: 'Refund' }).getByText('1.5', { exact: true }).waitFor();
      await closeSound(other);
    });
  });

  describe('the price of a text', () => {
    it('has tokens one by one, before and after, though they are priced by the million', async () => {
      const { gateway, open } = tested();
      const user = await gateway.createUser();
      const page = await open(user, 'create?model=gpt-6-luna');
      await page.getByLabel('Prompt').fill('say hello');
      await page.getByLabel('Tokens of the answer, at most').fill('2000');
      await page.getByText('output tokens × 2,000').waitFor();
      await page.getByRole('button', { name: 'Create', exact: true }).click();
      await page.getByText('output tokens × 8').waitFor();
      await closeSound(page);
    });
  });

  describe('usage', () => {
    it('leads from a line of its table to the tasks of the same period', async () => {
      const { gateway, open } = tested();
      const user = await gateway.createUser();
      await ended(user, await order(user, 'a counted picture'));
      const page = await open(user, 'usage');
      await page
        .getByRole('row', { name: /gpt-image-2/ })
        .getByRole('link')
        .click();
      await page.getByRole('link', { name: 'a counted picture' }).waitFor();
      const { model, from = '', to = '' } = Object.fromEntries(new URL(page.url()).searchParams);
      expect(model).to.equal('gpt-image-2');
      const days = (Date.parse(to) - Date.parse(from)) / DAY_MS;
      expect(days).to.be.within(29.9, 30.1);
      await closeSound(page);
    });
  });

  describe('calls', () => {
    it('show tokens and charge of a chat call, and the statement leads to them', async () => {
      const { gateway, open } = tested();
      const user = await gateway.createUser();
      const messages = [{ role: 'user', content: 'hello' }];
      const answer = await user.key.post('/v1/chat/completions', { model: 'gpt-6-luna', messages });
      expect(answer.status).to.equal(200);
      const page = await open(user, 'calls');
      const row = page.getByRole('row', { name: /gpt-6-luna/ });
      await row.getByText('Completed').waitFor();
      const { prompt_tokens: input, completion_tokens: output } = answer.body.usage;
      await row.getByText(`${input} / ${output}`).waitFor();
      const asked = page.waitForRequest(/\/api\/usage\?.*from=/);
      await page.getByLabel('Period').selectOption('Last 7 days');
      const { searchParams } = new URL((await asked).url());
      expect(Date.now() - Date.parse(searchParams.get('from') ?? '')).to.be.within(7 * DAY_MS, 7.1 * DAY_MS);
      await row.getByText(`${input} / ${output}`).waitFor();
      await page.getByRole('link', { name: 'Credits', exact: true }).click();
      await page
        .getByRole('row', { name: /gpt-6-luna/ })
        .getByRole('link', { name: 'Charge' })
        .click();
      await row.getByText(`${input} / ${output}`).waitFor();
      const { model, from = '', to = '' } = Object.fromEntries(new URL(page.url()).searchParams);
      expect(model).to.equal('gpt-6-luna');
      expect(Date.parse(to) - Date.parse(from)).to.be.above(CALL_SECONDS_MAX * 1_000);
      await closeSound(page);
    });
  });
}
