// The texts in Chinese.
import type { Texts } from './en-pages.ts';
import { account } from './zh/account.ts';
import { actions } from './zh/actions.ts';
import { admin } from './zh/admin.ts';
import { calls } from './zh/calls.ts';
import { create } from './zh/create.ts';
import { credits } from './zh/credits.ts';
import { errors } from './zh/errors.ts';
import { home } from './zh/home.ts';
import { keys } from './zh/keys.ts';
import { models } from './zh/models.ts';
import { task } from './zh/task.ts';
import { tasks } from './zh/tasks.ts';
import { usage } from './zh/usage.ts';
import { webhooks } from './zh/webhooks.ts';

export const zh: Texts = {
  ...{
    home,
    tasks,
    task,
    create,
    models,
    calls,
    usage,
    credits,
    keys,
    webhooks,
    account,
    admin,
    actions,
    errors,
  },
  name: '控制台',
  skip: '跳到页面内容',
  navigation: '页面',
  search: '搜索',
  more: '更多',
  available: '可用',
  creditsUnit: '积分',
  logOut: '退出登录',
  loading: '加载中',
  copy: '复制',
  copied: '已复制',
  close: '关闭',
  notNow: '取消',
  save: '保存',
  tryAgain: '重试',
  csv: 'CSV',
  all: '全部',
  none: '无',
  unlimited: '不限',
  requestId: '请求',
  cancelling: '正在取消…',
  loadMore: '显示更多',
  thatIsAll: '已全部显示',
  selectAll: '全选',
  makeKey: '创建密钥',
  attempt: '次数',
  needs: (required, available) => `需要 ${required}，可用 ${available}。`,
  tryAgainIn: (seconds) => `请在 ${seconds} 秒后重试。`,
  asOf: (time) => `截至 ${time}`,
  away: (time) => `API 没有响应。显示的是 ${time} 的内容，正在重试…`,
  ended: (mode, status) => `${mode}：${status}`,
  sandbox: { name: '沙盒', note: '供应商由沙盒扮演：这里的一切都不花钱。' },
  groups: { money: '用量与密钥', admin: '管理' },
  pages: {
    home: '首页',
    tasks: '任务',
    create: '创建',
    models: '模型',
    calls: '调用',
    usage: '用量',
    credits: '积分',
    keys: '密钥',
    webhooks: 'Webhook',
    account: '账户',
    adminTasks: '全部任务',
    adminUsers: '用户',
    adminCodes: '兑换码',
    adminUsage: '全部用量',
    adminWebhooks: '全部 Webhook',
    adminVendors: '供应商',
    adminAudit: '审计日志',
  },
  modes: { text: '文本', image: '图片', video: '视频' },
  statuses: {
    queued: '排队中',
    in_progress: '进行中',
    completed: '已完成',
    failed: '失败',
    cancelled: '已取消',
  },
  times: {
    now: '刚刚',
    seconds: (seconds) => `${seconds} 秒`,
    minutes: (minutes, seconds) => `${minutes} 分 ${seconds} 秒`,
    hours: (hours, minutes) => `${hours} 小时 ${minutes} 分`,
  },
  missing: { title: '没有这个页面', note: '地址可能已过期，或输入有误。' },
  broken: { title: '无法显示此页面', note: '此页面出了问题，其他页面不受影响。' },
  palette: { hint: '页面、模型、任意 ID…', page: '页面', id: '打开', nothing: '没有匹配项' },
  keyHelp: {
    title: '快捷键',
    palette: '搜索一切',
    filter: '转到筛选',
    next: '下一行',
    previous: '上一行',
    open: '打开该行',
    select: '选择该行',
    create: '创建任务',
    help: '本列表',
  },
  verify: {
    title: '请确认是您本人',
    note: '此操作需要重新验证，十分钟内有效。',
    code: '验证器应用中的验证码',
    action: '验证',
  },
  login: {
    title: '登录',
    note: '一个 API 使用文本、图片和视频模型，以积分付费。',
    email: '邮箱',
    password: '密码',
    action: '登录',
    code: '验证码',
    codeHint: '来自验证器应用，或使用一个恢复码。',
    back: '重新开始',
  },
};
