import { badRequest, CoreError, errorText } from '@svc/connector-kit';
import type { TurnAccepted, TurnRequest } from '@svc/contract/device-gateway.ts';
import type { OwnWatches } from '../stream/own-watches.ts';
import type { DeviceRecord } from '../device/device-record.ts';
import type { Keeper } from '../device/remove-device.ts';
import { askerOf, type Gateway } from '../gateway.ts';

/** Words of a device for a conversation that is not its own: of another device of its person, or of another channel. */
export type WordsElsewhere = Keeper & {
  /** Resolves when they are on their way. The same `message_id` is said once. @throws ServiceError as the core refuses it. */
  say(device: DeviceRecord, key: string, said: TurnRequest): Promise<TurnAccepted>;
};

/** A refusal comes within it; what takes longer is being answered, ms. */
const refusedWithinMs = 2_000;
/** Messages of a device that are known again. */
const mostKept = 200;

export function createWordsElsewhere(
  gateway: Pick<Gateway, 'ctx' | 'meta' | 'clock'>,
  watches: Pick<OwnWatches, 'tell'>,
): WordsElsewhere {
  const { core, state, log } = gateway.ctx;
  const nameOf = (deviceId: string) => `said/${deviceId}`;
  const saidBy = async (deviceId: string) => (await state.get<string[]>(nameOf(deviceId))) ?? [];

  /** It was not said, so it may be sent again under its id. */
  async function takeBack(deviceId: string, messageId: string, error: unknown): Promise<void> {
    log('warn', 'words for another conversation were not said', { error: errorText(error) });
    if (error instanceof CoreError && error.mayHaveRun) return;
    await state.set(
      nameOf(deviceId),
      (await saidBy(deviceId)).filter((id) => id !== messageId),
    );
  }

  return {
    async say(device, key, { text, message_id, interrupt = false, attachments = [] }) {
      if (attachments.length > 0) throw badRequest('Files can be sent in the conversation of this device alone.');
      const { device_id: id } = device;
      const accepted = { ok: true, conversation_key: key, message_id, turn_id: null } as const;
      if ((await saidBy(id)).includes(message_id)) return accepted;
      const as = askerOf(gateway, device);
      await core.sessions.history(as, key, { limit: 1 }); // a refusal is said before anything is
      // Kept first: what the core had already would be said twice.
      await state.append(nameOf(id), message_id, mostKept);
      const injected = core.sessions.inject(as, key, { text, interrupt }).then(
        ({ turn_id, route, deliverErr }) => {
          // Where there is no way out of it, it is read where it was said.
          if (deliverErr !== null && route !== null)
            watches.tell({ conversation_key: key, turn_id, type: 'undelivered', reason: deliverErr });
        },
        async (error: unknown) => {
          await takeBack(id, message_id, error);
          throw error;
        },
      );
      injected.catch(() => undefined); // after the answer nobody waits; the log has it
      await Promise.race([injected, new Promise<void>((resolve) => gateway.clock.after(refusedWithinMs, resolve))]);
      return accepted;
    },
    forget: (deviceId) => state.delete(nameOf(deviceId)),
  };
}
