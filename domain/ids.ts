// The kinds of ids: each begins with a prefix that says what it names, such as `task_01KB5M…`.

export const ID_PREFIXES = [
  'task',
  'key',
  'led',
  'usr',
  'ses',
  'rdm',
  'rdp',
  'aud',
  'rec',
  'flow',
  'idm',
  'file',
  'call',
  'whk',
  'evt',
  'dlv',
] as const;
export type IdPrefix = (typeof ID_PREFIXES)[number];
