import { CoreError, errorText, type Ask, type CoreApi, type StartContext } from '@svc/connector-kit';
import type { BotCall } from './bot-call.ts';

/** Length of a button's text that is readable on a telephone, and number of buttons in a row. */
const longestLabel = 64;
const rowLength = 30;
const mostInRow = 3;

type Button = { text: string; callback_data: string };

const shown = (label: string): string => {
  const letters = Array.from(label.trim() === '' ? '?' : label);
  return letters.length <= longestLabel ? label : `${letters.slice(0, longestLabel - 1).join('')}…`;
};

/** A button for each answer. Its data is short: the id of the question and the number of the answer. */
export function askKeyboard({ id, options }: Ask): { inline_keyboard: Button[][] } {
  const rows: Button[][] = [];
  for (const [index, { label }] of options.entries()) {
    const button = { text: shown(label), callback_data: `ask:${id}:${index + 1}` };
    const last = rows.at(-1);
    const length = [...(last ?? []), button].reduce((sum, { text }) => sum + text.length, 0);
    if (last !== undefined && last.length < mostInRow && length <= rowLength) last.push(button);
    else rows.push([button]);
  }
  return { inline_keyboard: rows };
}

/** A pressed button. `id`: of the press, which Telegram expects to be answered. */
export type Press = {
  id: string;
  data: string;
  chat: string;
  messageId: number | undefined;
  conversationKey: string;
  sender: string;
  isPublic?: boolean;
};

export type PressDeps = {
  core: Pick<CoreApi, 'answer'>;
  call: BotCall;
  channel: string;
  log: StartContext['log'];
  signal: AbortSignal;
};

const tooLate = 'This question is over.';
const alerts: Readonly<Record<string, string>> = {
  forbidden: 'This question is for another person.',
  conflict: tooLate,
  not_found: tooLate,
  bad_request: tooLate,
};

/**
 * Passes an answer to the core and tells the person who pressed the button the result. Rejects when the core is unreachable, so that the
 * press is delivered again.
 */
export async function takePress(deps: PressDeps, press: Press): Promise<void> {
  const [, id, number] = /^ask:([\w.-]{1,50}):(\d{1,3})$/.exec(press.data) ?? [];
  if (id === undefined || number === undefined) return say(deps, press, 'This button no longer works.');
  const as = { channel: deps.channel, sender: { raw_id: press.sender }, ...(press.isPublic === true && { public: true }) };
  try {
    const { label } = await deps.core.answer(id, { as, conversation_key: press.conversationKey, text: number });
    await say(deps, press, `✓ ${label}`, false);
  } catch (error) {
    const code = error instanceof CoreError ? error.code : '';
    const alert = alerts[code];
    if (alert === undefined) throw error;
    await say(deps, press, alert);
    if (alert === tooLate) await removeButtons(deps, press);
  }
}

/** Optional: a press older than a few seconds cannot be answered. */
async function say({ call, log, signal }: PressDeps, { id }: Press, text: string, show_alert = true): Promise<void> {
  const short = Array.from(text).slice(0, 190).join('');
  await call('answerCallbackQuery', { callback_query_id: id, text: short, show_alert }, signal).catch((error: unknown) => {
    log('debug', 'the result of a button press could not be shown', { error: errorText(error) });
  });
}

async function removeButtons({ call, log, signal }: PressDeps, { chat, messageId }: Press): Promise<void> {
  if (messageId === undefined) return;
  const params = { chat_id: chat.replace(/:\d+$/, ''), message_id: messageId };
  await call('editMessageReplyMarkup', params, signal).catch((error: unknown) => {
    log('debug', 'the buttons of a closed question could not be removed', { error: errorText(error) });
  });
}
