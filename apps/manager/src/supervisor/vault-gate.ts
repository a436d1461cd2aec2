import { backOffMs } from '@svc/service-kit/backoff.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import type { BehindVault } from '@svc/service-kit/vault/behind-vault.ts';
import type { WatchVault } from '@svc/service-kit/vault/create-vault-client.ts';

/** Where instances wait for the vault. It is followed while one of them waits, and not otherwise. */
export type VaultGate = {
  /** Calls `go` once, as soon as the vault is open. The returned function leaves the queue. */
  wait(go: () => void): () => void;
  /** Why one waits now: a vault that was away may have come back, and is to be opened. */
  why(fault: BehindVault): BehindVault;
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
  let sealed = false;
  let stopWatching: (() => void) | null = null;

  const stop = () => {
    sealed = false;
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
    sealed = isSealed === true;
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
    why: (fault) => (sealed ? fault.butSealed() : fault),
    close() {
      waiting.clear();
      stop();
    },
  };
}
