import type { Tier } from '@svc/contract/trust.ts';
import type { VaultCredential, VaultStatus } from '@svc/contract/vault.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import type { CoreSettings } from '@svc/service-kit/config/process-settings.ts';
import type { Log } from '@svc/service-kit/log.ts';
import type { Secret } from '@svc/service-kit/secret.ts';
import { conflict, errorText } from '@svc/service-kit/service-error.ts';
import { type VaultAnswer, type VaultClient, vaultOfSettings } from '@svc/service-kit/vault/create-vault-client.ts';
import type { SecretVault } from '../secret/secrets.ts';

type Deps = {
  settings: Pick<CoreSettings, 'vaultAdminKey' | 'vaultAgentKey' | 'vaultUrl'>;
  clock: Clock;
  log: Pick<Log, 'warn' | 'info'>;
  /** Called when the vault answers again after a failure: look-ups that failed meanwhile may succeed now. */
  onBack: () => void;
  /** Called whenever the vault is found sealed or unavailable: its keys must be removed from memory. */
  onClosed: () => void;
  client?: VaultClient | null;
};

/** How often an unavailable vault is checked again, ms. */
const lookMs = 2000;

/** The core reads secrets for itself, the assistant. */
const ownTier: Tier = 'SACRED';

/**
 * The core's client of the vault. When the vault is unavailable or sealed, the other sources of secrets are used; when it refuses, none is.
 */
export type VaultLink = {
  /** For `createSecrets`; null when there is no vault. */
  readonly place: SecretVault | null;
  status(): Promise<VaultStatus>;
  /** Stores a value with its minimum trust tier. False when there is no vault that can store it. @throws ServiceError. */
  store(name: string, value: Secret, minTrust: Tier): Promise<boolean>;
  /** The vault's secrets, without values; an empty list without a vault. `fault`: why they cannot be listed. */
  credentials(): Promise<{ credentials: VaultCredential[]; fault: string | null }>;
  /** @throws ServiceError: `forbidden` for a wrong passphrase, `busy` while attempts are delayed. */
  unseal(passphrase: Secret): Promise<void>;
  seal(): Promise<void>;
  /** The other administrative calls. @throws ServiceError `conflict` when there is no vault. */
  admin(): Pick<VaultClient, 'rotate' | 'changePassphrase' | 'access' | 'agents' | 'self' | 'addAgent' | 'removeAgent'>;
  /** The fault of the last call, as a notice. */
  notices(): string[];
  /** `listener` is called, like `onBack`, when the vault answers again after a failure. */
  whenBack(listener: () => void): void;
  close(): void;
};

export function createVaultLink({ settings, clock, log, onBack, onClosed, client = vaultOfSettings(settings) }: Deps): VaultLink {
  /** The fault of the last call. */
  let fault: string | null = null;
  /** The name whose look-up failed. */
  let wanted = '';
  const listeners = [onBack];
  let stopLooking = () => {};
  const noteFault = (now: string) => {
    onClosed();
    if (now === fault) return;
    const isFirst = fault === null;
    fault = now;
    log.warn(now);
    if (isFirst) stopLooking = startLooking();
  };
  const noteBack = () => {
    if (fault === null) return;
    fault = null;
    stopLooking();
    log.info('the vault answers again');
    for (const listener of listeners) listener();
  };
  const ask = async (vault: VaultClient, name: string, tier = ownTier): Promise<VaultAnswer> => {
    const answer = await vault.get(name, tier);
    const now = faultOf(answer);
    if (now === null) noteBack();
    else {
      wanted = name;
      noteFault(now);
    }
    return answer;
  };
  /** An opened vault reports at once; one that is open but failing is polled. */
  const startLooking = (): (() => void) => {
    const stopTimer = clock.every(lookMs, () => void look());
    const stopWatching = client?.watch((state) => void (state?.sealed === false && look())) ?? (() => {});
    return () => {
      stopTimer();
      stopWatching();
    };
  };
  /** Retries the failed look-up: an open vault may still be unable to write its record. */
  const look = () => (client === null ? null : ask(client, wanted));

  const theVault = (): VaultClient => {
    if (client !== null) return client;
    throw conflict(
      'No vault is set up. Secrets lie in the secrets file: docs/secrets.md. To set one up: ./svc vault init --write-env',
    );
  };

  const placeOf = (vault: VaultClient): SecretVault => ({
    async get(name, tier) {
      const answer = await ask(vault, name, tier);
      if (answer.is === 'denied') return { problem: `The vault refused the secret "${name}": ${answer.why}` };
      if (answer.is === 'sealed' || answer.is === 'unreachable') return { closed: answer };
      return answer.is === 'value' ? answer.value : null;
    },
    put: async (name, value) => void (await vault.put(name, value, ownTier)),
    async remove(name) {
      // Without the admin key, a removal can fail only if the vault has the secret.
      if (settings.vaultAdminKey === null && (await vault.get(name, ownTier)).is === 'not-found') return false;
      return vault.remove(name);
    },
  });

  return {
    place: client === null ? null : placeOf(client),

    async status(): Promise<VaultStatus> {
      const state = (await client?.status()) ?? null;
      if (state?.sealed !== false) onClosed();
      return { configured: client !== null, reachable: state !== null, sealed: state?.sealed !== false };
    },

    async store(name: string, value: Secret, minTrust: Tier): Promise<boolean> {
      if (client === null) return false;
      await client.put(name, value, minTrust);
      return true;
    },

    async credentials() {
      try {
        return { credentials: (await client?.list()) ?? [], fault: null };
      } catch (error) {
        return { credentials: [], fault: `The vault could not list its secrets: ${errorText(error)}` };
      }
    },

    async unseal(passphrase: Secret): Promise<void> {
      await theVault().unseal(passphrase);
      // Saves waiting callers the delay until the next check.
      if (fault !== null) await look();
    },

    async seal(): Promise<void> {
      await theVault().seal();
      onClosed();
    },

    admin: theVault,

    notices: (): string[] => (fault === null ? [] : [fault]),

    whenBack: (listener): void => void listeners.push(listener),

    close: (): void => stopLooking(),
  };
}

const elsewhere = 'so secrets come from the environment, the secrets file or the command';

function faultOf(answer: VaultAnswer): string | null {
  if (answer.is === 'sealed') return `The vault is sealed, ${elsewhere}. Open it: ./svc vault unseal`;
  return answer.is === 'unreachable' ? `The vault cannot be reached (${answer.why}), ${elsewhere}.` : null;
}
