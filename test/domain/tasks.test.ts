// The transitions of a task: which status may follow which; the database enforces the same table.
import { expect } from 'chai';
import { mayFollow, TASK_STATUSES } from '../../domain/tasks.ts';

const ALLOWED = [
  'queued → in_progress',
  'queued → failed',
  'queued → cancelled',
  'in_progress → completed',
  'in_progress → failed',
  'in_progress → cancelled',
  'failed → queued',
];

describe('task statuses', () => {
  it('follow each other only as callers are told', () => {
    const found = TASK_STATUSES.flatMap((from) =>
      TASK_STATUSES.filter((to) => mayFollow(from, to)).map((to) => `${from} → ${to}`),
    );
    expect(found).to.have.members(ALLOWED);
  });
});
