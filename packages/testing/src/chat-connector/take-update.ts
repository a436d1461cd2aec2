import { CoreError, errorText, type Ingress, type StartContext } from '@svc/connector-kit';
import { meta } from './meta.ts';
import type { PlatformApi, Update } from './platform-api.ts';
import { keyOf, senderOf, toAmendment, toEnvelope } from './to-envelope.ts';

type Deps = Pick<StartContext, 'instanceId' | 'uploads' | 'core' | 'signal' | 'log'> & { api: PlatformApi; ingress: Ingress };

/** Passes one update to the core. Resolves when the update may be confirmed. */
export async function take(deps: Deps, update: Update): Promise<void> {
  const { ingress, instanceId } = deps;
  const id = String(update.id);
  switch (update.kind) {
    case 'message': {
      const { message } = update;
      return ingress.take(message.chat.id, id, (signal) => toEnvelope({ ...deps, signal }, message), message.album);
    }
    case 'edited':
    case 'deleted':
      return ingress.amend(update.message.chat.id, id, async () => toAmendment(instanceId, update));
    case 'press':
      return answer(deps, update);
    case 'reaction':
  }
}

/** Handles a press of a question's button. One that is late, or by another person, changes nothing. */
async function answer({ core, instanceId, api, signal, log }: Deps, press: Extract<Update, { kind: 'press' }>): Promise<void> {
  const [askId = '', option = ''] = press.button_id.split(' ');
  const as = { channel: meta.type, sender: senderOf(press.from) };
  try {
    await core.answer(askId, { as, conversation_key: keyOf(instanceId, press.message.chat), option });
    await api.ask('POST', `/presses/${press.press_id}`, { signal });
  } catch (error) {
    if (error instanceof CoreError && error.code === 'unavailable') throw error; // it is given again
    log('warn', 'a pressed button was not taken', { ask: askId, error: errorText(error) });
  }
}
