import type { BehindVault } from '@svc/service-kit/vault/behind-vault.ts';
import type { VaultGate } from './vault-gate.ts';

/** The wait of one instance for the vault. */
export type VaultWait = {
  /** Why it waits now, for the operator; null while it does not. */
  reason(): string | null;
  begin(fault: BehindVault): void;
  /** Stops waiting, whatever the state of the vault. */
  end(): void;
};

/** `go` is called when the vault is open. */
export function createVaultWait(gate: VaultGate, id: string, go: () => void): VaultWait {
  let current: { fault: BehindVault; leave: () => void } | null = null;
  return {
    reason: () => (current === null ? null : gate.why(current.fault).waits(id)),
    begin: (fault) => void (current = { fault, leave: gate.wait(go) }),
    end() {
      current?.leave();
      current = null;
    },
  };
}
