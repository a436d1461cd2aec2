import type { Instance } from '@svc/contract/instance.ts';
import type { OutboundMessage } from '@svc/contract/send.ts';
import type { Telemetry } from '@svc/service-kit/telemetry/create-telemetry.ts';

/** Reports to the collector a message that a person or a program sent through a channel, with its outcome. */
export type SentEvents = (
  instance: Pick<Instance, 'id' | 'type'>,
  message: OutboundMessage,
  outcome: { ok: boolean; error?: Error },
) => void;

type Deps = {
  telemetry: Pick<Telemetry, 'emit' | 'emitLong'>;
  /** Masks the secrets that were given to instances; telemetry masks the rest. */
  mask: (text: string) => string;
};

/** From this length on a text is masked in slices. */
const longText = 4096;

export function createSentEvents({ telemetry, mask }: Deps): SentEvents {
  return ({ id, type }, { id: delivery_id, target, kind, text, caption, path }, { ok, error }) => {
    const words = text ?? caption ?? null;
    const event = {
      kind: 'delivery',
      surface: type,
      instance_id: id,
      text: words === null ? null : mask(words),
      payload: {
        what: ok ? 'delivered' : 'failed',
        delivery_id,
        target,
        kind,
        ...(path === undefined ? {} : { path }),
        ...(error === undefined ? {} : { error: mask(error.message) }),
      },
    };
    if ((event.text?.length ?? 0) > longText) void telemetry.emitLong(event);
    else telemetry.emit(event);
  };
}
