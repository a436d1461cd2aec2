import { createPrivateKey, generateKeyPairSync, sign, type KeyObject } from 'node:crypto';
import type { ConnectorState } from '@svc/connector-kit';
import type { Clock } from '@svc/service-kit/clock.ts';
import { forgetOldest } from '@svc/service-kit/forget-oldest.ts';

/** How push services know this gateway (RFC 8292). */
export type Vapid = {
  /** Which browsers subscribe with: an uncompressed point, base64url. */
  publicKey: string;
  /** The `authorization` header of a message to an endpoint. */
  authorization(endpoint: URL): string;
};

/** A push service takes no token that lives longer than a day. */
const tokenLifeMs = 12 * 60 * 60_000;
/** Push services whose tokens are kept. */
const maxTokens = 20;
const stateKey = 'push-vapid';

type StoredKey = { d: string; x: string; y: string };

/**
 * The gateway's own key, made at its first start and kept: with another one no browser that has subscribed could be sent anything.
 * @param contact https or mailto address by which a push service finds who is responsible.
 */
export async function openVapid(state: ConnectorState, contact: string, clock: Clock): Promise<Vapid> {
  const { key, publicKey } = toKey((await state.get<StoredKey>(stateKey)) ?? (await makeKey(state)));
  const tokens = new Map<string, { token: string; until: number }>();

  function tokenFor(audience: string): string {
    const kept = tokens.get(audience);
    // Half its life is left at least, whatever the clocks of others say.
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

/** A JSON Web Token, ES256. */
function signToken(claims: object, key: KeyObject): string {
  const signed = [{ typ: 'JWT', alg: 'ES256' }, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'));
  const text = signed.join('.');
  return `${text}.${sign('sha256', Buffer.from(text), { key, dsaEncoding: 'ieee-p1363' }).toString('base64url')}`;
}
