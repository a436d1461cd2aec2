import { CoreError, errorText, type CoreApi, type StartContext } from '@svc/connector-kit';
import type { Answerer } from '@svc/contract/ask.ts';
import { InteractionResponseType, type APIInteraction } from 'discord-api-types/v10';
import type { Respond } from './respond.ts';

export type Press = { interaction: Pick<APIInteraction, 'id' | 'token'>; button: string; as: Answerer; conversationKey: string };
export type PressDeps = { core: Pick<CoreApi, 'answer'>; respond: Respond; log: StartContext['log'] };

const tooLate = 'This question is over.';
const words: Readonly<Record<string, string>> = {
  forbidden: 'This question is for another person.',
  conflict: tooLate,
  not_found: tooLate,
  bad_request: tooLate,
};

/**
 * Passes an answer to the core. Tells the person who pressed the button why it did not count. Rejects when the press must be delivered
 * again.
 */
export async function takePress(
  { core, respond, log }: PressDeps,
  { interaction, button, as, conversationKey }: Press,
): Promise<void> {
  const [, id, number] = /^ask:([\w.-]{1,50}):(\d{1,3})$/.exec(button) ?? [];
  // Showing the result is optional: a press older than a few seconds cannot be answered.
  const shown = (work: Promise<unknown>) =>
    work.catch((error: unknown) => log('debug', 'the result of a button press could not be shown', { error: errorText(error) }));
  if (id === undefined || number === undefined) {
    await shown(respond.tell(interaction, 'This button no longer works.'));
    return;
  }
  try {
    await core.answer(id, { as, conversation_key: conversationKey, text: number });
    await shown(respond.with(interaction, { type: InteractionResponseType.DeferredMessageUpdate }));
  } catch (error) {
    const alert = error instanceof CoreError ? words[error.code] : undefined;
    if (alert === undefined) throw error;
    await shown(respond.tell(interaction, alert));
  }
}
