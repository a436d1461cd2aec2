import { ServiceError } from '../service-error.ts';
import type { VaultAnswer } from './create-vault-client.ts';

/** The answer of a vault that cannot tell whether it has a secret. */
export type ClosedVault = Extract<VaultAnswer, { is: 'sealed' | 'unreachable' }>;

/**
 * Thrown for a secret that no other place has while the vault is closed: its users have to wait. `what` names the
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

  /** The same error for a vault that is back but sealed, so that it has to be unsealed. */
  butSealed(): BehindVault {
    return this.vault.is === 'sealed' ? this : new BehindVault(this.#what, { is: 'sealed' });
  }

  /** Why something waits that will start automatically. */
  waits(id: string): string {
    const { is } = this.vault;
    return `${id} waits: ${this.message}${is === 'sealed' ? `. ${id} then starts by itself.` : ` ${id} starts by itself when it is back and open.`}`;
  }
}

const stateOf = (vault: ClosedVault): string =>
  vault.is === 'sealed' ? 'the vault is sealed. Open it: ./svc vault unseal' : `the vault cannot be reached (${vault.why}).`;
