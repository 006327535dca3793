// The texts of the page of models, in Chinese.
import type { models as en } from '../en/models.ts';

export const models: typeof en = {
  note: '有哪些模型，可以做什么，价格多少。',
  search: '查找模型',
  kind: '类型',
  vendor: '供应商',
  anyVendor: '任何供应商',
  calculator: '要花多少？',
  perUnit: (unit) =>
    `每${({ task: '任务', image: '张', second: '秒', 'million tokens': '百万 token' } as Record<string, string>)[unit] ?? unit}`,
  use: '创建',
  durations: '时长',
  resolutions: '分辨率',
  ratios: '宽高比',
  inputs: '输入图片',
  context: '上下文',
  usual: '通常耗时',
  upTo: (count) => `最多 ${count}`,
  tokens: (count) => `${count} token`,
  range: (min, max) => `${min}–${max} 秒`,
  nothing: '没有匹配的模型',
  morePrices: (count) => `还有 ${count} 个价格`,
  from: '起',
};
