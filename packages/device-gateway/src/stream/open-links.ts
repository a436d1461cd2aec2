import type { SseStream } from '@svc/service-kit/http/sse-stream.ts';
import { eventOf } from './to-stream-frame.ts';

/** `stream`: shows a conversation. `control`: receives commands for the device. */
export type LinkKind = 'stream' | 'control';

/** The open streams of devices. */
export type OpenLinks = {
  /** When a device opens too many of a kind, the oldest one ends. */
  add(deviceId: string, kind: LinkKind, stream: SseStream): void;
  has(deviceId: string, kind?: LinkKind): boolean;
  /** The devices with an open stream. */
  devices(): string[];
  /** Writes to every stream of a device; false when it has none. */
  send(deviceId: string, frame: { type: string }, kind?: LinkKind): boolean;
  /** Ends all streams of a device. */
  end(deviceId: string): void;
};

/** Maximum per device and kind; each tab of an app uses one. */
const maxOfKind = 8;

export function createOpenLinks(): OpenLinks {
  const links = new Map<string, { kind: LinkKind; stream: SseStream }[]>();
  const of = (deviceId: string, kind?: LinkKind) =>
    (links.get(deviceId) ?? []).filter((link) => kind === undefined || link.kind === kind);

  return {
    add(deviceId, kind, stream) {
      const others = of(deviceId, kind);
      if (others.length >= maxOfKind) others[0]?.stream.close();
      const link = { kind, stream };
      links.set(deviceId, [...of(deviceId), link]);
      stream.signal.addEventListener('abort', () => {
        const left = of(deviceId).filter((each) => each !== link);
        if (left.length === 0) links.delete(deviceId);
        else links.set(deviceId, left);
      });
    },
    has: (deviceId, kind) => of(deviceId, kind).length > 0,
    devices: () => [...links.keys()],
    send(deviceId, frame, kind) {
      const reached = of(deviceId, kind);
      const event = eventOf(frame);
      for (const { stream } of reached) stream.send(event);
      return reached.length > 0;
    },
    end(deviceId) {
      for (const { stream } of of(deviceId)) stream.close();
    },
  };
}
