import { createHash, createSign, generateKeyPairSync, randomBytes, type KeyObject } from 'node:crypto';

/** The options of a page: the fields that an authenticator reads. */
type Asked = { challenge: string; rpId?: string; rp?: { id?: string } };

const flags = { present: 1, verified: 4, attested: 64 };
const sha256 = (data: string | Buffer) => createHash('sha256').update(data).digest();
const base64url = (data: Buffer | string) => Buffer.from(data).toString('base64url');

/** The few forms of CBOR (RFC 8949) that an attestation needs: lengths below 65536. */
const head = (major: number, n: number): Buffer =>
  n < 24
    ? Buffer.of((major << 5) | n)
    : n < 256
      ? Buffer.of((major << 5) | 24, n)
      : Buffer.of((major << 5) | 25, n >> 8, n & 255);
const integer = (n: number) => (n < 0 ? head(1, -1 - n) : head(0, n));
const bytes = (data: Buffer) => Buffer.concat([head(2, data.length), data]);
const text = (data: string) => Buffer.concat([head(3, data.length), Buffer.from(data)]);
const map = (...pairs: [Buffer, Buffer][]) => Buffer.concat([head(5, pairs.length), ...pairs.flat()]);

/**
 * An authenticator with one passkey (ES256, no attestation), as in WebAuthn level 3. `counts`: many that sync passkeys always report
 * 0. `over` makes the response wrong, for tests of refusals.
 */
export function createSoftwareAuthenticator({ counts = true } = {}) {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const id = randomBytes(32);
  let counter = 0;

  const authData = (host: string, isVerified: boolean, rest = Buffer.alloc(0)) => {
    const count = Buffer.alloc(4);
    count.writeUInt32BE(counts ? counter++ : 0);
    const flag = flags.present | (isVerified ? flags.verified : 0) | (rest.length > 0 ? flags.attested : 0);
    return Buffer.concat([sha256(host), Buffer.of(flag), count, rest]);
  };
  const clientData = (type: string, challenge: string, origin: string) =>
    Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false }));
  const credential = (response: object) => ({
    id: base64url(id),
    rawId: base64url(id),
    type: 'public-key',
    clientExtensionResults: {},
    response,
  });

  return {
    id: base64url(id),
    /** Sets the counter back, as in a cloned authenticator. */
    rewind: () => void (counter = 1),

    create({ challenge, rp }: Asked, origin: string, over: { isVerified?: boolean } = {}) {
      const key = cosePublicKey(publicKey);
      const attested = Buffer.concat([Buffer.alloc(16), Buffer.of(0, id.length), id, key]);
      const client = clientData('webauthn.create', challenge, origin);
      const attestation = map(
        [text('fmt'), text('none')],
        [text('attStmt'), map()],
        [text('authData'), bytes(authData(rp?.id ?? '', over.isVerified ?? true, attested))],
      );
      return credential({
        clientDataJSON: base64url(client),
        attestationObject: base64url(attestation),
        transports: ['internal'],
      });
    },

    get({ challenge, rpId = '' }: Asked, origin: string, over: { isVerified?: boolean } = {}) {
      const client = clientData('webauthn.get', challenge, origin);
      const data = authData(rpId, over.isVerified ?? true);
      const signature = createSign('sha256')
        .update(Buffer.concat([data, sha256(client)]))
        .sign(privateKey);
      return credential({
        clientDataJSON: base64url(client),
        authenticatorData: base64url(data),
        signature: base64url(signature),
        userHandle: base64url('operator'),
      });
    },
  };
}

/** COSE_Key of an ES256 key: kty EC2, alg -7, crv P-256. */
function cosePublicKey(key: KeyObject): Buffer {
  const { x = '', y = '' } = key.export({ format: 'jwk' });
  return map(
    [integer(1), integer(2)],
    [integer(3), integer(-7)],
    [integer(-1), integer(1)],
    [integer(-2), bytes(Buffer.from(x, 'base64url'))],
    [integer(-3), bytes(Buffer.from(y, 'base64url'))],
  );
}
