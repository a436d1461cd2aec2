import { backOffMs } from '@svc/service-kit/backoff.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import type { WatchVault } from '@svc/service-kit/vault/create-vault-client.ts';

/** Where instances wait for the vault. It is followed while one of them waits, and not otherwise. */
export type VaultGate = {
  /** Calls `go` once, as soon as the vault is open. The returned function leaves the queue. */
  wait(go: () => void): () => void;
  close(): void;
};

/** A vault that says it is open and gives nothing is asked ever more slowly. */
const backOff = { firstMs: 1000, maxMs: 60_000 };

/** `watch`: null where there is no vault. */
export function createVaultGate(watch: WatchVault | null, clock: Pick<Clock, 'after'>): VaultGate {
  const waiting = new Set<() => void>();
  /** How often it was open in a row without having been seen sealed in between. */
  let openings = 0;
  let cancelTimer = () => {};
  let stopWatching: (() => void) | null = null;

  const stop = () => {
    cancelTimer();
    stopWatching?.();
    stopWatching = null;
  };
  const letGo = () => {
    openings++;
    const all = [...waiting];
    waiting.clear();
    stop();
    for (const go of all) go();
  };
  const onState = (isSealed: boolean | null) => {
    cancelTimer();
    if (isSealed === true) openings = 0;
    if (isSealed !== false) return;
    if (openings === 0) letGo();
    else cancelTimer = clock.after(backOffMs(backOff, openings), letGo);
  };

  return {
    wait(go) {
      waiting.add(go);
      stopWatching ??= watch?.((state) => onState(state?.sealed ?? null)) ?? null;
      return () => {
        waiting.delete(go);
        if (waiting.size === 0) stop();
      };
    },
    close() {
      waiting.clear();
      stop();
    },
  };
}
