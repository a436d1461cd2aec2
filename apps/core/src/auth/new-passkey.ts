import type { PublicKeyCredentialCreationOptionsJSON, RegistrationResponseJSON } from '@simplewebauthn/server';
import type { Passkey } from '@svc/contract/auth.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import type { Log } from '@svc/service-kit/log.ts';
import { badRequest } from '@svc/service-kit/service-error.ts';
import type { Database } from '@svc/store/database.ts';
import type { ChallengeUse, PasskeyChallenges } from './passkey-challenges.ts';
import { passkeyHost } from './passkey-host.ts';

/** How long a person may take to show a finger, a face or a PIN. */
export const passkeyTimeoutMs = 5 * 60_000;
/** EdDSA, ES256, RS256, by their COSE numbers: every authenticator has one, and Node all of them for good. */
const algorithms = [-8, -7, -257];

/** A passkey as it is stored. */
export type StoredPasskey = Passkey & { public_key: string; counter: number; transports: string };

type Asked = { use: ChallengeUse; origin: URL; userName: string; known: readonly { id: string }[] };
type Answered = { use: ChallengeUse; origin: URL; name: string; response: RegistrationResponseJSON };

/** It takes a while to load, and most starts of the core need none of it. */
const library = () => import('@simplewebauthn/server');

/** Makes passkeys, for whatever they then are for. */
export interface NewPasskeys {
  /** `known`: those that the authenticator must not make again. @throws ServiceError `unprocessable` at an address that is no name */
  options(asked: Asked): Promise<PublicKeyCredentialCreationOptionsJSON>;
  /** `challenge` is to be taken with what is written. @throws ServiceError `bad_request` for what does not prove itself */
  verify(answered: Answered): Promise<{ passkey: StoredPasskey; challenge: string }>;
}

type Deps = { challenges: PasskeyChallenges; clock: Pick<Clock, 'now'>; log: Pick<Log, 'warn'> };

export function createNewPasskeys({ challenges, clock, log }: Deps): NewPasskeys {
  return {
    async options({ use, origin, userName, known }) {
      const rpID = passkeyHost(origin);
      return (await library()).generateRegistrationOptions({
        rpName: 'Assistant Gateway',
        rpID,
        userName,
        // One person: a second passkey of the same authenticator takes the place of the first.
        userID: new Uint8Array(Buffer.from('operator')),
        challenge: challenges.make(use, rpID),
        timeout: passkeyTimeoutMs,
        supportedAlgorithmIDs: algorithms,
        excludeCredentials: known.map(({ id }) => ({ id })),
        authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
      });
    },

    async verify({ use, origin, name, response }) {
      const host = passkeyHost(origin);
      let taken = '';
      const verified = await (
        await library()
      )
        .verifyRegistrationResponse({
          response,
          expectedChallenge: (challenge) => {
            taken = challenge;
            return challenges.isGood(challenge, use, host);
          },
          expectedOrigin: origin.origin,
          expectedRPID: host,
          requireUserVerification: true,
          supportedAlgorithmIDs: algorithms,
        })
        .catch((error: unknown) => {
          log.warn({ err: error }, 'a new passkey was refused');
          return { verified: false as const };
        });
      if (!verified.verified)
        throw badRequest('The new passkey did not prove itself. Begin again, and finish within five minutes.');
      const { id, publicKey, counter, transports = [] } = verified.registrationInfo.credential;
      const shown = { id, name: name.trim(), host, created_at: clock.now(), used_at: null };
      const key = Buffer.from(publicKey).toString('base64url');
      const passkey = { ...shown, public_key: key, counter, transports: JSON.stringify(transports.slice(0, 16)) };
      return { passkey, challenge: taken };
    },
  };
}

/** False when there is this passkey already. */
export async function storePasskey(tx: Pick<Database, 'run'>, passkey: StoredPasskey): Promise<boolean> {
  const { id, name, host, public_key: key, counter, transports, created_at: at } = passkey;
  const insert =
    'INSERT INTO login_passkey (id, name, host, public_key, counter, transports, created_at) VALUES (?, ?, ?, ?, ?, ?, ?)';
  return (await tx.run(`${insert} ON CONFLICT DO NOTHING`, id, name, host, key, counter, transports, at)) > 0;
}
