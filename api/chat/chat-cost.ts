// Computes the cost of a chat call: tokens reported or counted, at the price fixed when the call was read.
import type { MicroCredits } from '../../domain/credits.ts';
import { computeCharge, type Evidence } from '../../domain/pricing.ts';
import { countTokens } from '../../providers/chat/tokens.ts';
import type { ChatUsage } from '../../providers/chat/usage.ts';
import type { PricedChat } from './request/read-chat.ts';

/**
 * The quantity that the charge is computed from. `counted`: the upstream reported no plausible usage, so
 * the text it delivered is counted here. `nothing`: the call is free.
 */
export type Consumption =
  | { kind: 'reported'; usage: ChatUsage }
  | { kind: 'counted'; text: string }
  | { kind: 'nothing' };

export interface ChatCost {
  promptTokens: number;
  completionTokens: number;
  /** Credits to charge; never more than the estimate that was reserved. */
  amount: MicroCredits;
  /** Cost beyond `amount`, which the operator bears. */
  loss: MicroCredits;
}

const FREE: ChatCost = { promptTokens: 0, completionTokens: 0, amount: 0n, loss: 0n };

/** `countPrompt` counts the tokens of the chat's prompt, where they are not reported. */
export async function computeChatCost(
  chat: PricedChat,
  consumption: Consumption,
  countPrompt: () => Promise<number>,
): Promise<ChatCost> {
  if (consumption.kind === 'nothing') return FREE;
  const evidence: Evidence & Tokens =
    consumption.kind === 'reported' ? consumption.usage : await countTokensOf(consumption.text, countPrompt);
  const { promptTokens, completionTokens } = evidence;
  const { amount, loss } = computeCharge(chat.price, chat.order, evidence, chat.estimate);
  return { promptTokens, completionTokens, amount, loss };
}

interface Tokens {
  promptTokens: number;
  completionTokens: number;
}

async function countTokensOf(text: string, countPrompt: () => Promise<number>): Promise<Tokens> {
  const promptTokens = await countPrompt();
  return { promptTokens, completionTokens: await countTokens(text) };
}
