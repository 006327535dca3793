// The texts of the page of models, in English.

export const models = {
  note: 'What there is, what may be ordered, and what it costs.',
  search: 'Find a model',
  kind: 'Kind',
  vendor: 'Vendor',
  anyVendor: 'Any vendor',
  calculator: 'What does it cost?',
  perUnit: (unit: string) => `per ${unit}`,
  use: 'Create',
  durations: 'Durations',
  resolutions: 'Resolutions',
  ratios: 'Aspect ratios',
  inputs: 'Input images',
  context: 'Context',
  usual: 'Usual time',
  upTo: (count: string) => `up to ${count}`,
  tokens: (count: string) => `${count} tokens`,
  range: (min: number, max: number) => `${min}–${max} s`,
  nothing: 'No model fits',
  morePrices: (count: number) => `${count} more prices`,
  from: 'from',
};
