// The texts of the home page, in English.

export const home = {
  reserved: 'Reserved',
  reservedHint: 'set aside for what runs',
  spent: 'Spent in 14 days',
  spentToday: 'Spent today',
  running: 'Running now',
  nothingRuns: 'Nothing runs',
  nothingRunsNote: 'Tasks appear here while they are worked on.',
  failures: 'Last failures',
  noFailures: 'No failures',
  noFailuresNote: 'Failed tasks appear here with their reason. They cost nothing.',
  recent: 'Last results',
  noCredits: 'You have no credits yet: redeem a code, or ask an administrator for some.',
  start: 'Three steps to the first result',
  makeKey: 'Make an API key',
  makeKeyNote: 'Programs show it with every request. It is shown once, when it is made.',
  send: 'Send a first request',
  sendNote: 'Put your key in the place of sk-svc_… and paste this into a terminal.',
  watch: 'Watch it arrive',
  watchNote: 'The task appears under Tasks by itself. Or make one here without any program.',
};
