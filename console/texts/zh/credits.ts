// The texts of the page of credits, in Chinese.
import type { credits as en } from '../en/credits.ts';

export const credits: typeof en = {
  note: '您有多少积分，以及每一笔变动。',
  balance: '余额',
  granted: '累计增加',
  charged: '累计消耗',
  usd: (usd) => `${usd} 美元`,
  statement: '明细',
  time: '时间',
  what: '事项',
  amount: '数额',
  after: '之后余额',
  types: { grant: '增加积分', redeem: '兑换码', charge: '收费', refund: '退款', adjustment: '调整' },
  redeem: '兑换',
  code: '兑换码',
  codeHint: '不区分大小写、空格和连字符。',
  redeemAction: '兑换',
  redeemed: (credits) => `已增加 ${credits} 积分。`,
  empty: '还没有变动',
  emptyNote: '使用兑换码，或请管理员增加积分。',
};
