// The texts of the page of credits, in English.

export const credits = {
  note: 'What you have, and every move of it.',
  balance: 'Balance',
  granted: 'Ever added',
  charged: 'Ever charged',
  usd: (usd: string) => `${usd} US dollars`,
  statement: 'Statement',
  time: 'Time',
  what: 'What',
  amount: 'Amount',
  after: 'Balance after',
  types: {
    grant: 'Credits added',
    redeem: 'Code redeemed',
    charge: 'Charge',
    refund: 'Refund',
    adjustment: 'Adjustment',
  } as Record<string, string>,
  redeem: 'Redeem a code',
  code: 'Code',
  codeHint: 'Case, spaces and hyphens do not matter.',
  redeemAction: 'Redeem',
  redeemed: (credits: string) => `${credits} credits were added.`,
  empty: 'Nothing has moved yet',
  emptyNote: 'Redeem a code, or ask an administrator for credits.',
};
