import { argon2, createCipheriv, createDecipheriv, randomBytes, type DecipherGCM } from 'node:crypto';
import { promisify } from 'node:util';
import { parseJsonOrNull } from '@svc/contract/json-value.ts';
import type { Static } from '@svc/contract/schema.ts';
import { ServiceError } from '@svc/service-kit/service-error.ts';
import { lazyCheck } from '../file/lazy-check.ts';
import { isSecretPath, secretsName } from './archive-rules.ts';

const derive = promisify(argon2);

export type SecretFile = { path: string; bytes: Buffer };

const algorithm = 'aes-256-gcm';
const cost = { memory: 128 * 1024, passes: 3, parallelism: 1 } as const;
const sizes = { key: 32, salt: 16, nonce: 12, tag: 16 } as const;

const base64 = (bytes: number) =>
  ({ type: 'string', pattern: '^[A-Za-z0-9+/]*={0,2}$', maxLength: Math.ceil(bytes / 3) * 4 }) as const;
const mostSealedBytes = 256 * 1024 * 1024;
/** The content of the entry. The limits keep a malicious one from using all memory or running for a day. */
const sealedSchema = {
  type: 'object',
  required: ['kdf', 'memory', 'passes', 'parallelism', 'salt', 'nonce', 'tag', 'text'],
  additionalProperties: false,
  properties: {
    kdf: { const: 'argon2id' },
    memory: { type: 'integer', minimum: 8, maximum: 1024 * 1024 },
    passes: { type: 'integer', minimum: 1, maximum: 16 },
    parallelism: { type: 'integer', minimum: 1, maximum: 8 },
    salt: base64(64),
    nonce: base64(sizes.nonce),
    tag: base64(sizes.tag),
    text: base64(mostSealedBytes),
  },
} as const;
type Sealed = Static<typeof sealedSchema>;

const filesSchema = {
  type: 'array',
  items: {
    type: 'object',
    required: ['path', 'data'],
    properties: { path: { type: 'string' }, data: { type: 'string' } },
  },
} as const;

const isSealed = lazyCheck<Sealed>(sealedSchema);
const isFiles = lazyCheck<Static<typeof filesSchema>>(filesSchema);

/** Encrypts the files with a passphrase, into the content of one entry. */
export async function sealSecrets(files: readonly SecretFile[], passphrase: string): Promise<Buffer> {
  const text = JSON.stringify(files.map(({ path, bytes }) => ({ path, data: bytes.toString('base64') })));
  const head = { kdf: 'argon2id', ...cost, salt: randomBytes(sizes.salt).toString('base64') } as const;
  const nonce = randomBytes(sizes.nonce);
  const cipher = createCipheriv(algorithm, await keyOf(passphrase, head), nonce, { authTagLength: sizes.tag }).setAAD(
    aadOf(head),
  );
  const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return Buffer.from(
    JSON.stringify({
      ...head,
      nonce: nonce.toString('base64'),
      tag: cipher.getAuthTag().toString('base64'),
      text: sealed.toString('base64'),
    } satisfies Sealed),
  );
}

/** @throws ServiceError `unprocessable` for a wrong passphrase, or an entry that was changed: the two cannot be told apart. */
export async function openSecrets(entry: Buffer, passphrase: string): Promise<SecretFile[]> {
  const sealed = parseJsonOrNull(entry.toString('utf8'));
  if (!isSealed(sealed)) throw damaged();
  const [nonce, tag] = [Buffer.from(sealed.nonce, 'base64'), Buffer.from(sealed.tag, 'base64')];
  if (nonce.length !== sizes.nonce || tag.length !== sizes.tag) throw damaged();
  const decipher = createDecipheriv(algorithm, await keyOf(passphrase, sealed), nonce, { authTagLength: sizes.tag });
  decipher.setAAD(aadOf(sealed)).setAuthTag(tag);
  const files = parseJsonOrNull(decrypted(decipher, Buffer.from(sealed.text, 'base64')).toString('utf8'));
  if (!isFiles(files) || files.some(({ path }) => !isSecretPath(path))) throw damaged();
  return files.map(({ path, data }) => ({ path, bytes: Buffer.from(data, 'base64') }));
}

function decrypted(decipher: DecipherGCM, text: Buffer): Buffer {
  try {
    return Buffer.concat([decipher.update(text), decipher.final()]);
  } catch (cause) {
    throw new ServiceError(
      'unprocessable',
      'The secrets of the backup cannot be opened: the passphrase is wrong, or they were changed.',
      {
        cause,
      },
    );
  }
}

type Head = Pick<Sealed, 'kdf' | 'memory' | 'passes' | 'parallelism' | 'salt'>;

async function keyOf(passphrase: string, { memory, passes, parallelism, salt }: Head): Promise<Buffer> {
  const message = Buffer.from(passphrase.normalize('NFKC'));
  try {
    const nonce = Buffer.from(salt, 'base64');
    return await derive('argon2id', { message, nonce, memory, passes, parallelism, tagLength: sizes.key });
  } catch (cause) {
    throw new ServiceError('unprocessable', 'The secrets of the backup are damaged.', { cause });
  } finally {
    message.fill(0);
  }
}

/** Binds the ciphertext to the entry's name and to how its key was derived. */
const aadOf = ({ kdf, memory, passes, parallelism, salt }: Head) =>
  Buffer.from(JSON.stringify(['svc-backup/1', secretsName, kdf, memory, passes, parallelism, salt]));

const damaged = () => new ServiceError('unprocessable', 'The secrets of the backup are damaged.');
