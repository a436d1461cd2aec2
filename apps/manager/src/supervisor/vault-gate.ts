import { backOffMs } from '@svc/service-kit/backoff.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import type { BehindVault } from '@svc/service-kit/vault/behind-vault.ts';
import type { WatchVault } from '@svc/service-kit/vault/create-vault-client.ts';

/** Where instances wait for the vault. The vault is watched only while one of them waits. */
export type VaultGate = {
  /** Calls `go` once, as soon as the vault is open. The returned function leaves the queue. */
  wait(go: () => void): () => void;
  /** Why an instance waits now: a vault that was unreachable may be back, but sealed. */
  why(fault: BehindVault): BehindVault;
  close(): void;
};

/** A vault that reports itself open but gives out nothing is asked less and less often. */
const backOff = { firstMs: 1000, maxMs: 60_000 };

/** `watch`: null without a vault. */
export function createVaultGate(watch: WatchVault | null, clock: Pick<Clock, 'after'>): VaultGate {
  const waiting = new Set<() => void>();
  /** How often in a row the vault was found open without being sealed in between. */
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
  const releaseAll = () => {
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
    if (openings === 0) releaseAll();
    else cancelTimer = clock.after(backOffMs(backOff, openings), releaseAll);
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
