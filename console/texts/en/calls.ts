// The texts of the page of chat calls, in English.

export const calls = {
  note: 'Chat calls of your keys: tokens, what they cost, how long they took.',
  time: 'Time',
  model: 'Model',
  tokens: 'Tokens in / out',
  credits: 'Credits',
  latency: 'Took',
  status: 'Status',
  request: 'Request',
  anyStatus: 'Any status',
  statuses: {
    completed: 'Completed',
    failed: 'Failed',
    cancelled: 'Cancelled',
    pending: 'Running',
  } as Record<string, string>,
  stream: 'Stream',
  bases: {
    upstream: 'by the vendor’s count',
    estimated: 'by our own count',
    none: 'not charged',
  } as Record<string, string>,
  empty: 'No calls yet',
  emptyNote: 'Chat calls of your API keys appear here, each with its tokens and its charge.',
  nothingFits: 'No call fits these filters',
};
