// The texts of the page of usage, in Chinese.
import type { usage as en } from '../en/usage.ts';

export const usage: typeof en = {
  note: '按时间统计的积分，与账本一致：收费减去退款。',
  group: '分组',
  groups: { model: '模型', key: '密钥', kind: '类型', none: '合计', user: '用户', family: '供应商' },
  period: '时间段',
  periods: {
    '1': '最近 24 小时',
    '7': '最近 7 天',
    '30': '最近 30 天',
    '90': '最近 90 天',
    '365': '最近一年',
  },
  total: '合计',
  before: '上一时间段',
  tasks: '任务',
  calls: '调用',
  failed: '失败',
  tokens: 'Token',
  credits: '积分',
  share: '占比',
  start: '开始',
  other: '其他',
  empty: '此时间段没有用量',
  emptyNote: '选择更长的时间段，或创建一个任务。',
  zone: (zone) => `时区：${zone}`,
  notYet: '这里没有用量汇总。',
  chart: '按时间的积分',
  loss: '运营方的损失',
};
