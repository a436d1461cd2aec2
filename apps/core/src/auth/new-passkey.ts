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
/** EdDSA, ES256, RS256, by their COSE numbers: every authenticator supports one, and Node supports all. */
const algorithms = [-8, -7, -257];

/** A passkey as it is stored. */
export type StoredPasskey = Passkey & { public_key: string; counter: number; transports: string };

type Asked = { use: ChallengeUse; origin: URL; userName: string; known: readonly { id: string }[] };
type Answered = { use: ChallengeUse; origin: URL; name: string; response: RegistrationResponseJSON };

/** Loaded on first use: it takes a while, and most starts of the core do not need it. */
const library = () => import('@simplewebauthn/server');

/** Creates passkeys, for a set-up or a signed-in session. */
export interface NewPasskeys {
  /** `known`: passkeys that the authenticator must not create again. @throws ServiceError `unprocessable` on a page whose host is an IP address */
  options(asked: Asked): Promise<PublicKeyCredentialCreationOptionsJSON>;
  /** The returned `challenge` must be taken in the transaction that stores the passkey. @throws ServiceError `bad_request` for a response that cannot be verified */
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
        // There is only one person: a second passkey of the same authenticator replaces the first.
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
        throw badRequest('The new passkey could not be verified. Start again, and finish within five minutes.');
      const { id, publicKey, counter, transports = [] } = verified.registrationInfo.credential;
      const shown = { id, name: name.trim(), host, created_at: clock.now(), used_at: null };
      const key = Buffer.from(publicKey).toString('base64url');
      const passkey = { ...shown, public_key: key, counter, transports: JSON.stringify(transports.slice(0, 16)) };
      return { passkey, challenge: taken };
    },
  };
}

/** False when this passkey is already stored. */
export async function storePasskey(tx: Pick<Database, 'run'>, passkey: StoredPasskey): Promise<boolean> {
  const { id, name, host, public_key: key, counter, transports, created_at: at } = passkey;
  const insert =
    'INSERT INTO login_passkey (id, name, host, public_key, counter, transports, created_at) VALUES (?, ?, ?, ?, ?, ?, ?)';
  return (await tx.run(`${insert} ON CONFLICT DO NOTHING`, id, name, host, key, counter, transports, at)) > 0;
}
