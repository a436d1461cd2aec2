import type { SseStream } from '@svc/service-kit/http/sse-stream.ts';
import type { DeviceRecord } from '../device/device-record.ts';
import { askerOf, ownKey, type Gateway } from '../gateway.ts';

type Deps = Pick<Gateway, 'ctx' | 'meta' | 'clock'>;

/**
 * Interval of retries when there are too many watches, ms. Until then, each message to the device checks the holder's access with the core.
 */
const againMs = 30_000;

/** Ends a stream without a conversation as soon as the device's person loses access. */
export function watchHolder(gateway: Deps, device: DeviceRecord, stream: Pick<SseStream, 'signal' | 'close'>): void {
  const { ctx, clock } = gateway;
  let stop = (): void => undefined;
  const begin = (): void => {
    stop = ctx.core.sessions.watch(
      askerOf(gateway, device),
      ownKey(gateway, device),
      {
        onFrame: () => undefined,
        onEnd(error) {
          if (error.code !== 'queue_full') return stream.close();
          stop = clock.after(againMs, begin);
        },
      },
      { frames: false },
    );
  };
  stream.signal.addEventListener('abort', () => stop());
  begin();
}
