// The console as people use it, in a real browser: one system and one browser for the tests of all pages.
import type { TestConsole } from '../support/console/browser.ts';
import { startConsole } from '../support/console/browser.ts';
import { testAccessibility } from './accessibility.ts';
import { testAccount } from './account/account.ts';
import { testAdministration } from './admin/admin.ts';
import { testUserAdministration } from './admin/users.ts';
import { testWebhookAdministration } from './admin/webhooks.ts';
import { testBrokenPages } from './broken-pages.ts';
import { testCreate } from './create/create.ts';
import { testFirstLoads } from './first-loads.ts';
import { testHome } from './home/home.ts';
import { testHostileTexts } from './hostile-texts.ts';
import { testKeys } from './keys/keys.ts';
import { testLogin } from './login/login.ts';
import { testNewUser } from './new-user.ts';
import { testModels } from './models/models.ts';
import { testMoney } from './credits/credits.ts';
import { testServing } from './serving.ts';
import { testLiveTasks } from './tasks/live.ts';
import { testTasks } from './tasks/tasks.ts';
import { testWebhooks } from './webhooks/webhooks.ts';

describe('the console', () => {
  let opened: TestConsole | null = null;

  before(async function () {
    opened = await startConsole();
    // Without a browser there is nothing to look with: `npm test -- --install` installs Debian's chromium.
    if (opened === null) this.skip();
  });
  after(() => opened?.stop());

  const tested = (): TestConsole => {
    if (opened === null) throw new Error('the console was not started');
    return opened;
  };
  testServing(tested);
  testFirstLoads(tested);
  testLogin(tested);
  testNewUser(tested);
  testHome(tested);
  testTasks(tested);
  testLiveTasks(tested);
  testCreate(tested);
  testModels(tested);
  testMoney(tested);
  testKeys(tested);
  testWebhooks(tested);
  testAccount(tested);
  testAdministration(tested);
  testUserAdministration(tested);
  testWebhookAdministration(tested);
  testHostileTexts(tested);
  testBrokenPages(tested);
  testAccessibility(tested);
});
