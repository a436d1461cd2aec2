import type { StartContext } from '@svc/connector-kit';
import { createInTurnByKey } from '@svc/service-kit/in-turn-by-key.ts';
import type { DeviceRecord } from '../device/device-record.ts';
import type { Keeper } from '../device/remove-device.ts';

/** Messages that end what runs in the own conversation of their device before they are said. */
export type Interrupts = Keeper & {
  /** Ends it, once for each message: one that is sent again would end its own turn. @throws as `end` does; then nothing was ended */
  before(device: Pick<DeviceRecord, 'device_id'>, messageId: string, end: () => Promise<void>): Promise<void>;
};

/** Messages of a device that are known again. */
const mostKept = 200;
/** Of a device: the turns that they end are one after the other. */
const limits = { ofKey: 16, all: 1_000, what: 'messages' } as const;

export function createInterrupts(state: StartContext['state']): Interrupts {
  const nameOf = (deviceId: string) => `interrupted/${deviceId}`;
  const inTurn = createInTurnByKey(limits);
  return {
    before: ({ device_id: id }, messageId, end) =>
      inTurn(id, async () => {
        if ((await state.get<string[]>(nameOf(id)))?.includes(messageId)) return;
        await end();
        // Kept before the message is said: a kill in between ends once more what is not its own.
        await state.append(nameOf(id), messageId, mostKept);
      }),
    forget: (deviceId) => state.delete(nameOf(deviceId)),
  };
}
