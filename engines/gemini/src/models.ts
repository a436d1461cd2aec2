import { defaultModel } from './pin.ts';

/** Models to choose from, the one that is used unless another is set first. Any other id of the vendor may be set as well. */
export const models = [
  defaultModel,
  'gemini-3.5-flash-lite',
  'gemini-3.1-pro-preview',
  'gemini-2.5-pro',
  'gemini-2.5-flash',
] as const;

/** The cheapest that every key may use: enough to name a conversation. */
export const titleModel = 'gemini-3.5-flash-lite';
