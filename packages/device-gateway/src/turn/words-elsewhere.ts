import { badRequest, CoreError } from '@svc/connector-kit';
import type { TurnAccepted, TurnRequest } from '@svc/contract/device-gateway.ts';
import { compositeKey } from '@svc/service-kit/composite-key.ts';
import { createInTurnByKey } from '@svc/service-kit/in-turn-by-key.ts';
import type { OwnWatches } from '../stream/own-watches.ts';
import type { DeviceRecord } from '../device/device-record.ts';
import type { Keeper } from '../device/remove-device.ts';
import { askerOf, type Gateway } from '../gateway.ts';
import { withoutRefusal } from './injected.ts';

/** Texts of a device for another conversation: of the same person's other device, or of another channel. */
export type WordsElsewhere = Keeper & {
  /** Resolves when the core has not refused the text. Each `message_id` is sent once. @throws ServiceError of the core */
  say(device: DeviceRecord, key: string, said: TurnRequest): Promise<TurnAccepted>;
};

/** Number of a device's messages that are remembered. */
const mostKept = 200;
/** Limits per message: its attempts run one after the other. */
const limits = { ofKey: 16, all: 1_000, what: 'messages for other conversations' } as const;

export function createWordsElsewhere(
  gateway: Pick<Gateway, 'ctx' | 'meta' | 'clock'>,
  watches: Pick<OwnWatches, 'tell'>,
): WordsElsewhere {
  const { core, state } = gateway.ctx;
  const inTurn = createInTurnByKey(limits);
  const nameOf = (deviceId: string) => `said/${deviceId}`;
  const saidBy = async (deviceId: string) => (await state.get<string[]>(nameOf(deviceId))) ?? [];

  /** The text was not sent, so it may be sent again with the same id. */
  async function takeBack(deviceId: string, messageId: string, error: unknown): Promise<void> {
    if (error instanceof CoreError && error.mayHaveRun) return;
    await inTurn(compositeKey(deviceId), async () => {
      const others = (await saidBy(deviceId)).filter((id) => id !== messageId);
      await state.set(nameOf(deviceId), others);
    });
  }

  async function say(device: DeviceRecord, key: string, { text, message_id, interrupt = false }: TurnRequest): Promise<void> {
    const { device_id: id } = device;
    if ((await saidBy(id)).includes(message_id)) return;
    const as = askerOf(gateway, device);
    await core.sessions.history(as, key, { limit: 1 }); // a refusal comes before the text is sent
    // Stored first: a terminal would otherwise type the text twice after a repeat.
    await inTurn(compositeKey(id), () => state.append(nameOf(id), message_id, mostKept));
    const injected = core.sessions.inject(as, key, { text, interrupt, message_id }).then(
      ({ turn_id, route, deliverErr }) => {
        // A conversation without a way out is read where the text was sent.
        if (deliverErr !== null && route !== null)
          watches.tell({ conversation_key: key, turn_id, type: 'undelivered', reason: deliverErr });
      },
      async (error: unknown) => {
        await takeBack(id, message_id, error);
        throw error;
      },
    );
    await withoutRefusal(gateway, injected);
  }

  return {
    async say(device, key, said) {
      const { message_id, attachments = [] } = said;
      if (attachments.length > 0) throw badRequest("Files can be sent only in this device's own conversation.");
      await inTurn(compositeKey(device.device_id, message_id), () => say(device, key, said));
      return { ok: true, conversation_key: key, message_id, turn_id: null };
    },
    forget: (deviceId) => state.delete(nameOf(deviceId)),
  };
}
