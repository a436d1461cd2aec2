import { t } from '@svc/chat-ui/language/t.ts';
import type { PasskeyOptionsAnswer } from '@svc/contract/auth.ts';
import { authCall } from './auth-api.ts';

/** Whether this browser creates and uses passkeys in the format of the core. */
export const knowsPasskeys = (): boolean =>
  typeof PublicKeyCredential === 'function' && typeof PublicKeyCredential.parseRequestOptionsFromJSON === 'function';

/** Whether the browser offers passkeys in the name field. */
export const offersPasskeys = async (): Promise<boolean> =>
  knowsPasskeys() && (await PublicKeyCredential.isConditionalMediationAvailable());

type Proof = { headers?: Record<string, string>; mediation?: CredentialMediationRequirement; signal?: AbortSignal };

/**
 * Signs in by a passkey, or confirms the login with one. @throws AuthFault for a refusal of the core, Error with a message for the person when no passkey was used
 */
export async function provePasskey(
  what: 'login' | 'step-up',
  { headers = {}, mediation = 'optional', signal }: Proof = {},
): Promise<void> {
  const { options } = await authCall<PasskeyOptionsAnswer>('POST', `${what}/passkey/options`, { headers, body: {} });
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options as never);
  const request = { publicKey, mediation, ...(signal !== undefined && { signal }) };
  const credential = await navigator.credentials.get(request).catch(inWords);
  await authCall('POST', `${what}/passkey`, { headers, body: { response: jsonOf(credential) } });
}

/** The address with `localhost` when this page was opened by IP address, where no passkey can be created; otherwise null. */
export const namedAddress = (): string | null =>
  /^(?:\d+(?:\.\d+){3}|\[.*\])$/.test(location.hostname) ? `http://localhost:${location.port}` : null;

/** Creates a passkey on this device, in the format of the core. @throws Error with a message for the person */
export async function makePasskey(options: Record<string, unknown>): Promise<object> {
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options as never);
  return jsonOf(await navigator.credentials.create({ publicKey }).catch(inWords));
}

function jsonOf(credential: Credential | null): object {
  if (!(credential instanceof PublicKeyCredential)) throw new Error(t('The browser returned no passkey.'));
  return credential.toJSON() as object;
}

/** The messages of browsers are written for programmers. */
function inWords(error: unknown): never {
  const name = error instanceof DOMException ? error.name : '';
  if (name === 'InvalidStateError') throw new Error(t('This device has a passkey here already.'));
  if (name === 'AbortError') throw error;
  throw new Error(t('No passkey was used. Try again, or go on without it.'), { cause: error });
}
