import { t } from '@svc/chat-ui/language/t.ts';
import type { PasskeyOptionsAnswer } from '@svc/contract/auth.ts';
import { authCall } from './auth-api.ts';

/** Whether this browser makes and shows passkeys in the form that the core speaks. */
export const knowsPasskeys = (): boolean =>
  typeof PublicKeyCredential === 'function' && typeof PublicKeyCredential.parseRequestOptionsFromJSON === 'function';

/** Whether the browser offers them in the field of the name. */
export const offersPasskeys = async (): Promise<boolean> =>
  knowsPasskeys() && (await PublicKeyCredential.isConditionalMediationAvailable());

type Proof = { headers?: Record<string, string>; mediation?: CredentialMediationRequirement; signal?: AbortSignal };

/**
 * Signs in by a passkey, or proves again who has signed in. @throws AuthFault for a refusal of the core, Error with words for the person when none was shown
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

/** The address of this machine by its name, where a page at one in numbers can make no passkey; null where it can. */
export const namedAddress = (): string | null =>
  /^(?:\d+(?:\.\d+){3}|\[.*\])$/.test(location.hostname) ? `http://localhost:${location.port}` : null;

/** A new passkey of this device, as the core takes it. @throws Error with words for the person */
export async function makePasskey(options: Record<string, unknown>): Promise<object> {
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options as never);
  return jsonOf(await navigator.credentials.create({ publicKey }).catch(inWords));
}

function jsonOf(credential: Credential | null): object {
  if (!(credential instanceof PublicKeyCredential)) throw new Error(t('The browser returned no passkey.'));
  return credential.toJSON() as object;
}

/** What browsers say is for programmers. */
function inWords(error: unknown): never {
  const name = error instanceof DOMException ? error.name : '';
  if (name === 'InvalidStateError') throw new Error(t('This device has a passkey here already.'));
  if (name === 'AbortError') throw error;
  throw new Error(t('No passkey was used. Try again, or go on without it.'), { cause: error });
}
