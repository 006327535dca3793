// What is told about every route, by name. One that is missing here, or stands here without being a route, is a type error.
import type { ADMIN_ROUTES } from '../../admin/routes.ts';
import type { CONSOLE_ROUTES } from '../../console/routes.ts';
import type { RESULT_ROUTE } from '../../tasks/results.ts';
import type { UPLOAD_FILE_ROUTE } from '../../uploads/links.ts';
import type { V1_ROUTES } from '../../v1/routes.ts';
import type { Operation, RouteName } from '../operation.ts';
import type { DOCS_FILE_ROUTE, DOCS_ROUTE } from '../../docs/send-docs.ts';
import { ACCOUNT_OPERATIONS } from './account.ts';
import { ADMIN_OPERATIONS } from './administration.ts';
import { CHAT_OPERATIONS } from './chat.ts';
import { FILE_OPERATIONS } from './files.ts';
import { IDENTITY_OPERATIONS } from './identity.ts';
import { TASK_OPERATIONS } from './tasks.ts';
import { UPLOAD_OPERATIONS } from './uploads.ts';
import { V1_OPERATIONS } from './v1.ts';
import type { DOCUMENT_ROUTE } from '../paths.ts';

type TableName = RouteName<
  (typeof V1_ROUTES)[number] | (typeof CONSOLE_ROUTES)[number] | (typeof ADMIN_ROUTES)[number]
>;
type FileName =
  `GET ${typeof RESULT_ROUTE | typeof UPLOAD_FILE_ROUTE | typeof DOCUMENT_ROUTE | typeof DOCS_ROUTE | typeof DOCS_FILE_ROUTE}`;

const COMPLETE = {
  ...CHAT_OPERATIONS,
  ...V1_OPERATIONS,
  ...UPLOAD_OPERATIONS,
  ...TASK_OPERATIONS,
  ...ACCOUNT_OPERATIONS,
  ...IDENTITY_OPERATIONS,
  ...ADMIN_OPERATIONS,
  ...FILE_OPERATIONS,
} satisfies Record<TableName | FileName, Operation>;

export const OPERATIONS: Readonly<Record<string, Operation>> = COMPLETE;
