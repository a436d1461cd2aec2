import { isRecord, parseJsonOrNull } from '@svc/contract/json-value.ts';
import type { VaultState } from '@svc/contract/vault.ts';
import { backOffMs } from '../backoff.ts';
import type { IncomingMessage } from '../builtin.ts';
import type { Clock } from '../clock.ts';
import { openRequest } from '../http/json-client.ts';
import { createLineSplitter } from '../line-splitter.ts';

/** A vault that comes back is heard soon: a person who opens it takes longer than that. */
const backOff = { firstMs: 250, maxMs: 2000 };
/** Three keep-alives of the vault. */
const silenceMs = 45_000;
const followMs = 2 ** 31 - 1;
const maxLine = 4096;

type Options = {
  url: string;
  clock: Clock;
  /** Its state, at first and at every change; null whenever it cannot be followed. */
  onState(state: VaultState | null): void;
};

/** Follows the state of a vault over its going and coming, until the returned function is called. Never throws. */
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
  /** Until the stream ends or is silent for too long. */
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
    // How it ended says nothing more: it is asked again either way.
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
  throw new Error(`no vault, or an older one: it answers ${stream.statusCode}`);
}

function toState(text: string): VaultState | null {
  const value = parseJsonOrNull(text);
  if (!isRecord(value) || typeof value['sealed'] !== 'boolean') return null;
  return { initialized: value['initialized'] === true, sealed: value['sealed'] };
}
