import type { Secret } from '../secret.ts';
import { requestJson } from '../http/json-client.ts';

/** The result of a batch: accepted (with the events that the collector rejected), or refused as a whole for its content. */
export type SendResult = { taken: true; rejected: { index: number; error: string }[] } | { taken: false; error: string };

/** Sends events to the collector, as one JSON array. Throws when it is unreachable or busy; the same events may be sent again. */
export type SendEvents = (json: Buffer, signal: AbortSignal) => Promise<SendResult>;

type IngestAnswer = { ingested?: number; rejected?: { index: number; error: string }[]; message?: string };

const timeoutMs = 10_000;
/** For these, sending the same body again would fail again. The cause of any other status may pass: a token, a route, a restart. */
const contentStatuses = [400, 413, 415, 422];

/** Names who has masked the events of a batch, so that the collector need not ask the core to. */
export const maskedByHeader = 'svc-masked-by';

export const sendTo = (collectorUrl: string, token: Secret | null, producer: string): SendEvents => {
  const url = new URL('/ingest', collectorUrl).href;
  const headers = { [maskedByHeader]: producer };
  return async (json, signal) => {
    const { status, body } = await requestJson<IngestAnswer>(url, { method: 'POST', token, json, timeoutMs, signal, headers });
    if (status === 200) return { taken: true, rejected: body.rejected ?? [] };
    const error = `the collector answered ${status}: ${body.message ?? 'no reason given'}`;
    if (contentStatuses.includes(status)) return { taken: false, error };
    throw new Error(error);
  };
};
