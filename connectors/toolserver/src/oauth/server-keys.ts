import { generateKeyPairSync, randomBytes, type JsonWebKey } from 'node:crypto';
import type { ConnectorState } from '@svc/connector-kit';
import { isWithin, type Clock } from '@svc/service-kit/clock.ts';

export type ServerKeys = {
  /** Sign the cookies of an authorization in progress; the first is used, the other still accepted. */
  cookieKeys: string[];
  /** The authorization server wants a signing key, though its tokens are opaque. */
  signingKey: JsonWebKey;
};

type Stored = { cookieKeys: string[]; signingKey: Record<string, string>; madeAt: number };

const stateKey = 'oauth-keys';
const rotateMs = 90 * 24 * 60 * 60_000;

/** Keys of this instance: made at its first start, and renewed at a start 90 days later. */
export async function openServerKeys(state: ConnectorState, clock: Pick<Clock, 'now'>): Promise<ServerKeys> {
  const known = await state.get<Stored>(stateKey);
  if (known !== undefined && isWithin(known.madeAt, rotateMs, clock.now())) return known;
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const cookieKeys = [randomBytes(32).toString('base64url'), ...(known?.cookieKeys.slice(0, 1) ?? [])];
  const signingKey = privateKey.export({ format: 'jwk' }) as Record<string, string>;
  await state.set(stateKey, { cookieKeys, signingKey, madeAt: clock.now() });
  return { cookieKeys, signingKey };
}
