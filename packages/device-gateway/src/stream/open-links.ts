import type { SseStream } from '@svc/service-kit/http/sse-stream.ts';
import { eventOf } from './to-stream-frame.ts';

/** `stream`: shows a conversation. `control`: receives commands for the device. */
export type LinkKind = 'stream' | 'control';

export type OpenLink = {
  kind: LinkKind;
  stream: Pick<SseStream, 'send' | 'close' | 'signal'>;
  /** Digest of the token with which it was opened; null for a device without one. */
  token: string | null;
  /** The conversation that it shows; null for none. */
  conversation: string | null;
};

/** The open streams of devices. */
export type OpenLinks = {
  /** When a device opens too many of a kind, the oldest one ends. */
  add(deviceId: string, link: OpenLink): void;
  has(deviceId: string, kind?: LinkKind): boolean;
  /** Whether a stream of the device shows the conversation. */
  shows(deviceId: string, conversation: string): boolean;
  /** The devices with an open stream. */
  devices(): string[];
  /** Writes to every stream of a device; false when it has none. */
  send(deviceId: string, frame: { type: string }, kind?: LinkKind): boolean;
  /** Ends all streams of a device. */
  end(deviceId: string): void;
  /** Ends those that were opened with another token; all of them when the device has none any more. */
  endOutdated(deviceId: string, token: string | null): void;
};

/** Maximum per device and kind; each tab of an app uses one. */
const maxOfKind = 8;

export function createOpenLinks(): OpenLinks {
  const links = new Map<string, OpenLink[]>();
  const of = (deviceId: string, kind?: LinkKind) =>
    (links.get(deviceId) ?? []).filter((link) => kind === undefined || link.kind === kind);

  return {
    add(deviceId, link) {
      const others = of(deviceId, link.kind);
      if (others.length >= maxOfKind) others[0]?.stream.close();
      links.set(deviceId, [...of(deviceId), link]);
      link.stream.signal.addEventListener('abort', () => {
        const left = of(deviceId).filter((each) => each !== link);
        if (left.length === 0) links.delete(deviceId);
        else links.set(deviceId, left);
      });
    },
    has: (deviceId, kind) => of(deviceId, kind).length > 0,
    shows: (deviceId, conversation) => of(deviceId).some((link) => link.conversation === conversation),
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
    endOutdated(deviceId, present) {
      for (const { stream, token } of of(deviceId)) if (present === null || token !== present) stream.close();
    },
  };
}
