// The descriptions of all routes by name. A route without one, or one without a route, is a type error.
import type { ADMIN_ROUTES } from '../../admin/routes.ts';
import type { CONSOLE_ROUTES } from '../../console/routes.ts';
import type { RESULT_ROUTE } from '../../tasks/results.ts';
import type { UPLOAD_FILE_ROUTE } from '../../uploads/links.ts';
import type { V1_ROUTES } from '../../v1/routes.ts';
import type { RouteDescription, RouteName } from '../route-description.ts';
import type { DOCS_FILE_ROUTE, DOCS_ROUTE } from '../../docs/send-docs.ts';
import { ACCOUNT_DESCRIPTIONS } from './account.ts';
import { ADMIN_DESCRIPTIONS } from './administration.ts';
import { CHAT_DESCRIPTIONS } from './chat.ts';
import { FILE_DESCRIPTIONS } from './files.ts';
import { IDENTITY_DESCRIPTIONS } from './identity.ts';
import { TASK_DESCRIPTIONS } from './tasks.ts';
import { UPLOAD_DESCRIPTIONS } from './uploads.ts';
import { WEBHOOK_DESCRIPTIONS } from './webhooks.ts';
import { V1_DESCRIPTIONS } from './v1.ts';
import type { DOCUMENT_ROUTE } from '../paths.ts';

type TableName = RouteName<
  (typeof V1_ROUTES)[number] | (typeof CONSOLE_ROUTES)[number] | (typeof ADMIN_ROUTES)[number]
>;
type FileName =
  `GET ${typeof RESULT_ROUTE | typeof UPLOAD_FILE_ROUTE | typeof DOCUMENT_ROUTE | typeof DOCS_ROUTE | typeof DOCS_FILE_ROUTE}`;

/** The descriptions with their schemas as types, from which the console derives bodies and answers. */
export type RouteDescriptions = typeof COMPLETE;

const COMPLETE = {
  ...CHAT_DESCRIPTIONS,
  ...V1_DESCRIPTIONS,
  ...UPLOAD_DESCRIPTIONS,
  ...TASK_DESCRIPTIONS,
  ...ACCOUNT_DESCRIPTIONS,
  ...IDENTITY_DESCRIPTIONS,
  ...ADMIN_DESCRIPTIONS,
  ...FILE_DESCRIPTIONS,
  ...WEBHOOK_DESCRIPTIONS,
} satisfies Record<TableName | FileName, RouteDescription>;

export const ROUTE_DESCRIPTIONS: Readonly<Record<string, RouteDescription>> = COMPLETE;
