import { isRecord, parseJsonOrNull } from '@svc/contract/json-value.ts';
import type { VaultState } from '@svc/contract/vault.ts';
import { backOffMs } from '../backoff.ts';
import type { IncomingMessage } from '../builtin.ts';
import type { Clock } from '../clock.ts';
import { openRequest } from '../http/json-client.ts';
import { createLineSplitter } from '../line-splitter.ts';

/** Short, so that a restarted vault is noticed before a person has unsealed it. */
const backOff = { firstMs: 250, maxMs: 2000 };
/** Three keep-alive intervals of the vault. */
const silenceMs = 45_000;
const followMs = 2 ** 31 - 1;
const maxLine = 4096;

type Options = {
  url: string;
  clock: Clock;
  /** Its state, at first and at every change; null whenever it is unreachable. */
  onState(state: VaultState | null): void;
};

/** Follows the state of a vault, across its restarts, until the returned function is called. Never throws. */
export function watchVault({ url, clock, onState }: Options): () => void {
  let failures = 0;
  let cancelTimer = () => {};
  const closed = new AbortController();

  const hear = (line: string): void => {
    const state = line.startsWith('data: ') ? toState(line.slice('data: '.length)) : null;
    if (state === null || closed.signal.aborted) return;
    failures = 0;
    onState(state);
  };
  /** Resolves when the stream ends or is silent for too long. */
  const follow = async (): Promise<void> => {
    const silent = new AbortController();
    const listen = () => clock.after(silenceMs, () => silent.abort());
    let cancelSilence = listen();
    try {
      const stream = await openWatch(url, AbortSignal.any([closed.signal, silent.signal]));
      const lines = createLineSplitter(maxLine, hear, () => stream.destroy());
      for await (const chunk of stream) {
        cancelSilence();
        cancelSilence = listen();
        lines.push(chunk as Buffer);
      }
    } finally {
      cancelSilence();
    }
  };
  const goOn = (): void => {
    const again = () => {
      if (closed.signal.aborted) return;
      onState(null);
      failures++;
      cancelTimer = clock.after(backOffMs(backOff, failures), goOn);
    };
    // It reconnects however the stream ended.
    follow().then(again, again);
  };
  goOn();
  return () => {
    closed.abort();
    cancelTimer();
  };
}

async function openWatch(url: string, signal: AbortSignal): Promise<IncomingMessage> {
  const headers = { accept: 'text/event-stream' };
  const stream = await openRequest(`${url}/v1/watch`, { timeoutMs: followMs, signal, headers });
  if (stream.statusCode === 200) return stream;
  stream.destroy();
  throw new Error(`this is no vault, or an older one: it answers with status ${stream.statusCode}`);
}

function toState(text: string): VaultState | null {
  const value = parseJsonOrNull(text);
  if (!isRecord(value) || typeof value['sealed'] !== 'boolean') return null;
  return { initialized: value['initialized'] === true, sealed: value['sealed'] };
}
