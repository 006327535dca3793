// The texts of the home page, in Chinese.
import type { home as en } from '../en/home.ts';

export const home: typeof en = {
  reserved: '预留',
  reservedHint: '为进行中的任务预留',
  spent: '14 天内消耗',
  spentToday: '今天消耗',
  running: '正在进行',
  nothingRuns: '没有进行中的任务',
  nothingRunsNote: '任务进行时会显示在这里。',
  failures: '最近的失败',
  noFailures: '没有失败',
  noFailuresNote: '失败的任务及其原因会显示在这里，失败不收费。',
  recent: '最近的结果',
  noCredits: '您还没有积分：使用兑换码，或请管理员增加。',
  start: '三步得到第一个结果',
  makeKey: '创建 API 密钥',
  makeKeyNote: '程序在每个请求中出示它。密钥只在创建时显示一次。',
  send: '发送第一个请求',
  sendNote: '把它粘贴到终端，用您的密钥替换 sk-svc_…。',
  watch: '看着它完成',
  watchNote: '任务会自动出现在“任务”中。您也可以不写程序，直接在这里创建。',
};
