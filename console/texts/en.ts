// The texts in English. Their form is the type that every other language has to have.
import { account } from './en/account.ts';
import { admin } from './en/admin.ts';
import { calls } from './en/calls.ts';
import { create } from './en/create.ts';
import { credits } from './en/credits.ts';
import { errors } from './en/errors.ts';
import { home } from './en/home.ts';
import { keys } from './en/keys.ts';
import { models } from './en/models.ts';
import { task } from './en/task.ts';
import { tasks } from './en/tasks.ts';
import { usage } from './en/usage.ts';

export const en = {
  ...{ home, tasks, task, create, models, calls, usage, credits, keys, account, admin, errors },
  name: 'Console',
  skip: 'Skip to the page',
  navigation: 'Pages',
  search: 'Search',
  more: 'More',
  available: 'Available',
  creditsUnit: 'credits',
  logOut: 'Log out',
  loading: 'Loading',
  copy: 'Copy',
  copied: 'Copied',
  close: 'Close',
  notNow: 'Not now',
  save: 'Save',
  tryAgain: 'Try again',
  csv: 'CSV',
  all: 'All',
  none: 'None',
  unlimited: 'Unlimited',
  requestId: 'Request',
  cancelling: 'Cancelling…',
  loadMore: 'Show more',
  thatIsAll: 'That is all',
  selectAll: 'Select all',
  needs: (required: string, available: string) => `This needs ${required}; you have ${available} available.`,
  tryAgainIn: (seconds: number) => `Try again in ${seconds} s.`,
  asOf: (time: string) => `as of ${time}`,
  away: (time: string) => `No answer from the API. You see what it was at ${time}; trying again…`,
  ended: (mode: string, status: string) => `${mode}: ${status.toLowerCase()}`,
  sandbox: { name: 'Sandbox', note: 'The vendors are played by a sandbox: nothing here costs money.' },
  groups: { money: 'Usage and keys', admin: 'Administration' },
  pages: {
    home: 'Home',
    tasks: 'Tasks',
    create: 'Create',
    models: 'Models',
    calls: 'Calls',
    usage: 'Usage',
    credits: 'Credits',
    keys: 'Keys',
    account: 'Account',
    adminTasks: 'All tasks',
    adminUsers: 'Users',
    adminCodes: 'Redeem codes',
    adminUsage: 'All usage',
    adminVendors: 'Vendors',
    adminAudit: 'Audit log',
  },
  modes: { text: 'Text', image: 'Image', video: 'Video' },
  statuses: {
    queued: 'Queued',
    in_progress: 'Running',
    completed: 'Completed',
    failed: 'Failed',
    cancelled: 'Cancelled',
  },
  times: {
    now: 'just now',
    seconds: (seconds: string) => `${seconds} s`,
    minutes: (minutes: number, seconds: number) => `${minutes} min ${seconds} s`,
    hours: (hours: number, minutes: number) => `${hours} h ${minutes} min`,
  },
  missing: { title: 'There is no such page', note: 'The address may be old, or mistyped.' },
  palette: { hint: 'Pages, models, any id…', page: 'Page', id: 'Open', nothing: 'Nothing fits' },
  keyHelp: {
    title: 'Shortcuts',
    palette: 'Search everything',
    filter: 'To the filter',
    next: 'Next row',
    previous: 'Previous row',
    open: 'Open the row',
    select: 'Select the row',
    create: 'Create a task',
    help: 'This list',
  },
  verify: {
    title: 'Is it you?',
    note: 'This action asks for a fresh proof. It is good for ten minutes.',
    code: 'Code of your authenticator app',
    action: 'Verify',
  },
  login: {
    title: 'Log in',
    note: 'Text, image and video models behind one API, paid in credits.',
    email: 'E-mail address',
    password: 'Password',
    action: 'Log in',
    code: 'Code',
    codeHint: 'From your authenticator app, or one of your recovery codes.',
    back: 'Start again',
  },
};

export type Texts = typeof en;
