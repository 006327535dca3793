// The texts in English of pages that load on demand.
import { account } from './en/account.ts';
import { actions } from './en/actions.ts';
import { admin } from './en/admin.ts';
import { calls } from './en/calls.ts';
import { create } from './en/create.ts';
import { credits } from './en/credits.ts';
import { home } from './en/home.ts';
import { keys } from './en/keys.ts';
import { models } from './en/models.ts';
import { task } from './en/task.ts';
import { usage } from './en/usage.ts';
import { webhooks } from './en/webhooks.ts';
import type { FirstTexts } from './en.ts';

export const enPages = {
  home,
  task,
  create,
  models,
  calls,
  usage,
  credits,
  keys,
  account,
  webhooks,
  admin,
  actions,
};

/** All texts: the form that every other language has to have. */
export type Texts = FirstTexts & typeof enPages;
