// The texts of the page of chat calls, in Chinese.
import type { calls as en } from '../en/calls.ts';

export const calls: typeof en = {
  note: '密钥的对话调用：token、费用和耗时。',
  time: '时间',
  model: '模型',
  tokens: 'Token 入 / 出',
  credits: '积分',
  latency: '耗时',
  status: '状态',
  request: '请求',
  anyStatus: '任何状态',
  statuses: { completed: '已完成', failed: '失败', cancelled: '已取消', pending: '进行中' },
  stream: '流式',
  bases: { upstream: '按供应商计数', estimated: '按我们的计数', none: '未收费' },
  empty: '还没有调用',
  emptyNote: 'API 密钥的对话调用会显示在这里，附 token 和费用。',
  nothingFits: '没有符合筛选的调用',
};
