// The query fields by which lists of tasks are filtered, for owners and administrators.
import { TASK_MODES, TASK_STATUSES } from '../../domain/tasks.ts';
import { filterText, oneOf, periodQuery } from '../http/request-fields.ts';

export const TASK_FILTERS = {
  status: oneOf(TASK_STATUSES).optional(),
  mode: oneOf(TASK_MODES).optional(),
  model: filterText(),
  keyId: filterText().describe('Of tasks ordered with this key.'),
  errorCode: filterText().describe('Of tasks that ended with this `errorCode`.'),
  ...periodQuery(),
};
