import type { PartialEvent } from '@svc/contract/event.ts';
import { beginningInSlices } from '@svc/service-kit/redaction/in-slices.ts';
import type { KnownSecrets } from '@svc/service-kit/redaction/known-secrets.ts';
import type { Telemetry } from '@svc/service-kit/telemetry/create-telemetry.ts';
import type { Turn } from '../turn/turn.ts';

/** A text up to this length is masked at once. */
export const shortText = 4096;
/** So much of a message is sent. */
const maxInbound = 64 * 1024;

/** How events leave: masked, and with what is the same in all events of a turn. */
export interface EventOut {
  send(event: PartialEvent): void;
  emit(turn: Turn, event: PartialEvent): void;
  /** As `emit`; a promise where the text is long: until then the event is on its way. */
  emitted(turn: Turn, event: PartialEvent): Promise<void> | void;
  mask(text: string): string;
  /** A person may send a megabyte; the feed keeps the beginning of it. */
  maskLong(text: string): Promise<string>;
}

export function createEventOut(
  telemetry: Pick<Telemetry, 'emit' | 'emitLong'>,
  knownSecrets: Pick<KnownSecrets, 'redactor'>,
): EventOut {
  const send = (event: PartialEvent): void => void telemetry.emit(event);
  const mask = (text: string): string => {
    try {
      return knownSecrets.redactor().text(text);
    } catch {
      return withheld; // without the list of secrets no text leaves; the fault itself is in /health
    }
  };
  const maskLong = async (text: string): Promise<string> => {
    try {
      return await beginningInSlices(knownSecrets.redactor(), text, maxInbound);
    } catch {
      return withheld;
    }
  };
  const emitted = (turn: Turn, event: PartialEvent): Promise<void> | void => {
    const { envelope } = turn;
    const whole = {
      surface: envelope.channel,
      session: envelope.conversation_key,
      instance_id: turn.instanceId,
      identity: envelope.sender.raw_id,
      request_id: turn.requestId,
      ...event,
    };
    if ((event.text?.length ?? 0) > shortText) return telemetry.emitLong(whole);
    send(whole);
  };
  const emit = (turn: Turn, event: PartialEvent): void => void emitted(turn, event);
  return { send, emit, emitted, mask, maskLong };
}

/** Stands for a text while the list of secrets cannot be read; the fault itself is in /health. */
const withheld = '[withheld]';
