import type { StartContext } from '@svc/connector-kit';
import { createInTurnByKey } from '@svc/service-kit/in-turn-by-key.ts';
import type { DeviceRecord } from '../device/device-record.ts';
import type { Keeper } from '../device/remove-device.ts';

/** Messages that first end the running turn of their device's own conversation. */
export type Interrupts = Keeper & {
  /** Ends the running turn, once per message: otherwise a repeat would end its own turn. @throws as `end` does; then nothing was ended */
  before(device: Pick<DeviceRecord, 'device_id'>, messageId: string, end: () => Promise<void>): Promise<void>;
};

/** Number of a device's messages that are remembered. */
const mostKept = 200;
/** Limits per device: the interruptions run one after the other. */
const limits = { ofKey: 16, all: 1_000, what: 'messages' } as const;

export function createInterrupts(state: StartContext['state']): Interrupts {
  const nameOf = (deviceId: string) => `interrupted/${deviceId}`;
  const inTurn = createInTurnByKey(limits);
  return {
    before: ({ device_id: id }, messageId, end) =>
      inTurn(id, async () => {
        if ((await state.get<string[]>(nameOf(id)))?.includes(messageId)) return;
        await end();
        // Stored before the message is sent, so that a repeat never ends its own turn. A kill before this line only ends another one.
        await state.append(nameOf(id), messageId, mostKept);
      }),
    forget: (deviceId) => state.delete(nameOf(deviceId)),
  };
}
