import { isRecord } from '@svc/contract/json-value.ts';

type RequestId = string | number;
type Running = { clientId: string; id: RequestId; stop: AbortController };

/**
 * The running calls, by client: programs count their requests from 0, so those of a user's different programs have the same ids. A client of an
 * older protocol version cancels with a separate request, which must find the call here. Two sessions of a client may use the same request
 * id: then neither call is cancelled.
 */
export type RunningCalls = {
  /** Aborts when the call is cancelled. The function is called when it is over. */
  begin(clientId: string, id: RequestId): { signal: AbortSignal; stop: () => void; end: () => void };
  /** Takes note of a message that may cancel a call. */
  look(clientId: string, message: unknown): void;
};

export function createRunningCalls(): RunningCalls {
  const running = new Set<Running>();
  const cancel = (clientId: string, id: RequestId | null): void => {
    const [call, another] = [...running].filter((each) => each.clientId === clientId && each.id === id);
    if (call !== undefined && another === undefined) call.stop.abort();
  };
  return {
    begin(clientId, id) {
      const call = { clientId, id, stop: new AbortController() };
      running.add(call);
      return { signal: call.stop.signal, stop: () => call.stop.abort(), end: () => void running.delete(call) };
    },
    look(clientId, message) {
      // Until 2025-03-26 messages may come as a list.
      for (const each of Array.isArray(message) ? message : [message]) cancel(clientId, cancelledId(each));
    },
  };
}

function cancelledId(message: unknown): RequestId | null {
  if (!isRecord(message) || message['method'] !== 'notifications/cancelled') return null;
  const { params } = message;
  const id: unknown = isRecord(params) ? params['requestId'] : null;
  return typeof id === 'string' || typeof id === 'number' ? id : null;
}
