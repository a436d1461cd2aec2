import { createPrivateKey, generateKeyPairSync, sign, type KeyObject } from 'node:crypto';
import type { ConnectorState } from '@svc/connector-kit';
import type { Clock } from '@svc/service-kit/clock.ts';
import { forgetOldest } from '@svc/service-kit/forget-oldest.ts';

/** The identity of this gateway towards push services (RFC 8292). */
export type Vapid = {
  /** The key with which browsers subscribe: an uncompressed point, base64url. */
  publicKey: string;
  /** The `authorization` header for a message to an endpoint. */
  authorization(endpoint: URL): string;
};

/** Push services accept no token with a lifetime of more than a day. */
const tokenLifeMs = 12 * 60 * 60_000;
/** Number of push services whose tokens are kept. */
const maxTokens = 20;
const stateKey = 'push-vapid';

type StoredKey = { d: string; x: string; y: string };

/**
 * The gateway's own key, which is created at its first start and stored: with another one, no existing subscription could be used.
 * @param contact https or mailto address with which a push service can reach the operator
 */
export async function openVapid(state: ConnectorState, contact: string, clock: Clock): Promise<Vapid> {
  const { key, publicKey } = toKey((await state.get<StoredKey>(stateKey)) ?? (await makeKey(state)));
  const tokens = new Map<string, { token: string; until: number }>();

  function tokenFor(audience: string): string {
    const kept = tokens.get(audience);
    // A kept token is used for half of its lifetime, which allows for the clocks of others.
    if (kept !== undefined && Math.abs(kept.until - clock.now() - tokenLifeMs) < tokenLifeMs / 2) return kept.token;
    const until = clock.now() + tokenLifeMs;
    const token = signToken({ aud: audience, exp: Math.floor(until / 1000), sub: contact }, key);
    tokens.delete(audience);
    tokens.set(audience, { token, until });
    forgetOldest(tokens, maxTokens);
    return token;
  }

  return { publicKey, authorization: ({ origin }) => `vapid t=${tokenFor(origin)}, k=${publicKey}` };
}

async function makeKey(state: ConnectorState): Promise<StoredKey> {
  const { d = '', x = '', y = '' } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).privateKey.export({ format: 'jwk' });
  await state.set(stateKey, { d, x, y });
  return { d, x, y };
}

function toKey({ d, x, y }: StoredKey): { key: KeyObject; publicKey: string } {
  const key = createPrivateKey({ format: 'jwk', key: { kty: 'EC', crv: 'P-256', d, x, y } });
  const point = Buffer.concat([Buffer.from([4]), Buffer.from(x, 'base64url'), Buffer.from(y, 'base64url')]);
  return { key, publicKey: point.toString('base64url') };
}

/** A signed JSON Web Token, ES256. */
function signToken(claims: object, key: KeyObject): string {
  const signed = [{ typ: 'JWT', alg: 'ES256' }, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'));
  const text = signed.join('.');
  return `${text}.${sign('sha256', Buffer.from(text), { key, dsaEncoding: 'ieee-p1363' }).toString('base64url')}`;
}
