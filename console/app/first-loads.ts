// What each page needs when it is the first that is opened. The API announces it in the page that it sends,
// so that nothing waits for the scripts that would ask for it.

export interface FirstLoad {
  /** The address below the console's root; a part that begins with a colon stands for an id. */
  path: string;
  /** The file that is loaded on demand; null for a page that every other brings along. */
  source: string | null;
  /** What it reads of the API before anything else, each as the page asks for it. */
  reads?: readonly string[];
}

/** What the frame reads around every page. */
export const FRAME_READS: readonly string[] = ['api/auth/me'];

export const FIRST_LOADS: readonly FirstLoad[] = [
  { path: '', source: 'home/home', reads: ['api/tasks?limit=50', 'api/balance'] },
  { path: 'tasks', source: null, reads: ['api/tasks?limit=50'] },
  { path: 'tasks/:id', source: 'task/task', reads: ['api/tasks/:id'] },
  { path: 'create', source: 'create/create', reads: ['api/models'] },
  { path: 'models', source: 'models/models', reads: ['api/models'] },
  { path: 'calls', source: 'calls/calls', reads: ['api/usage?limit=50'] },
  { path: 'usage', source: 'usage/usage' },
  { path: 'credits', source: 'credits/credits', reads: ['api/balance?includeLedger=1&limit=50'] },
  { path: 'keys', source: 'keys/keys', reads: ['api/keys?limit=100'] },
  { path: 'webhooks', source: 'webhooks/webhooks', reads: ['api/webhooks?limit=100'] },
  { path: 'webhooks/:id', source: 'webhooks/webhook', reads: ['api/webhooks/:id'] },
  { path: 'account', source: 'account/account' },
  { path: 'admin/tasks', source: 'admin/tasks' },
  { path: 'admin/tasks/:id', source: 'admin/task' },
  { path: 'admin/users/:id', source: 'admin/user' },
  { path: 'admin/users', source: 'admin/users' },
  { path: 'admin/codes', source: 'admin/codes' },
  { path: 'admin/usage', source: 'admin/usage' },
  { path: 'admin/webhooks', source: 'admin/webhooks' },
  { path: 'admin/webhooks/:id', source: 'admin/webhook' },
  { path: 'admin/vendors', source: 'admin/vendors' },
  { path: 'admin/audit', source: 'admin/audit' },
];
