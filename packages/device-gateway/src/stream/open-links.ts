import type { SseStream } from '@svc/service-kit/http/sse-stream.ts';
import { eventOf } from './to-stream-frame.ts';

/** `stream`: a conversation is read. `control`: the device takes commands. */
export type LinkKind = 'stream' | 'control';

/** The streams that devices hold open. */
export type OpenLinks = {
  /** The oldest of a kind ends when a device opens too many. */
  add(deviceId: string, kind: LinkKind, stream: SseStream): void;
  has(deviceId: string, kind?: LinkKind): boolean;
  /** Devices that can be reached. */
  devices(): string[];
  /** Writes to every stream of a device; false when it has none. */
  send(deviceId: string, frame: { type: string }, kind?: LinkKind): boolean;
  /** Ends the streams of a device. */
  end(deviceId: string): void;
};

/** Tabs of one device, of a kind. */
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
