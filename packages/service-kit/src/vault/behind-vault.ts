import { ServiceError } from '../service-error.ts';
import type { VaultAnswer } from './create-vault-client.ts';

/** A vault that cannot say whether it has a secret. */
export type ClosedVault = Extract<VaultAnswer, { is: 'sealed' | 'unreachable' }>;

/**
 * A secret that no other place has, while the vault cannot say whether it has it: its users wait. `what` names the
 * secret within the sentence; the message ends with the command that helps.
 */
export class BehindVault extends ServiceError {
  readonly vault: ClosedVault;
  readonly #what: string;

  constructor(what: string, vault: ClosedVault) {
    super('unavailable', `${what} may be in the vault, and ${stateOf(vault)}`, { details: { sealed: vault.is === 'sealed' } });
    this.vault = vault;
    this.#what = what;
  }

  /** The same for a vault that was seen sealed since: one that came back is to be opened. */
  butSealed(): BehindVault {
    return this.vault.is === 'sealed' ? this : new BehindVault(this.#what, { is: 'sealed' });
  }

  /** Why something waits that starts by itself. */
  waits(id: string): string {
    const { is } = this.vault;
    return `${id} waits: ${this.message}${is === 'sealed' ? `. ${id} then starts by itself.` : ` ${id} starts by itself when it is back and open.`}`;
  }
}

const stateOf = (vault: ClosedVault): string =>
  vault.is === 'sealed' ? 'the vault is sealed. Open it: ./svc vault unseal' : `the vault cannot be reached (${vault.why}).`;
