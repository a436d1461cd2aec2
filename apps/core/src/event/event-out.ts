import type { PartialEvent } from '@svc/contract/event.ts';
import { beginningInSlices } from '@svc/service-kit/redaction/in-slices.ts';
import type { KnownSecrets } from '@svc/service-kit/redaction/known-secrets.ts';
import type { Telemetry } from '@svc/service-kit/telemetry/create-telemetry.ts';
import type { Turn } from '../turn/turn.ts';

/** A text up to this length is masked synchronously. */
export const shortText = 4096;
/** How much of a message is sent. */
const maxInbound = 64 * 1024;

/** Sends events: masked, and with the fields that all events of a turn share. */
export interface EventOut {
  send(event: PartialEvent): void;
  emit(turn: Turn, event: PartialEvent): void;
  /** Emits an event of a turn. Returns a promise where the text is long, until the event is sent. */
  emitted(turn: Turn, event: PartialEvent): Promise<void> | void;
  mask(text: string): string;
  /** A person may send a megabyte; the feed keeps its beginning. */
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
      return withheld; // without the list of secrets no text leaves; /health reports the fault
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

/** Replaces a text while the list of secrets cannot be read; /health reports the fault. */
const withheld = '[withheld]';
