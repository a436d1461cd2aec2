import { timingSafeEqual } from 'node:crypto';
import type { Secret } from '@svc/service-kit/secret.ts';
import { ServiceError } from '@svc/service-kit/service-error.ts';
import type { Database } from '@svc/store/database.ts';
import { hashAccessKey } from '../crypto/access-key.ts';
import { readVaultRow } from '../keyring/vault-row.ts';

type Asked = { headers: Record<string, string | string[] | undefined> };
type Answer = { header(name: string, value: string): unknown };

/** A request hook that requires the admin key. @throws ServiceError `unauthorized`. */
export type AdminAuth = (request: Asked, reply: Answer) => Promise<void>;

/**
 * The admin key is sent as `X-Admin-Key`. `adminKey` is the operator's own; null for the one that was generated with the
 * vault, of which only the hash is stored. Before the set-up, without a key of the operator, every request is refused.
 */
export function createAdminAuth(db: Database, adminKey: Secret | null): AdminAuth {
  return async function adminAuth(request, reply) {
    const expected = adminKey === null ? await storedHash(db) : hashAccessKey(adminKey.reveal());
    const given = request.headers['x-admin-key'];
    // Digests have the same length, so the comparison takes constant time.
    if (expected !== null && typeof given === 'string' && timingSafeEqual(expected, hashAccessKey(given))) return;
    // Every 401 names what is required. There is no registered scheme for a header, so this is our own.
    reply.header('www-authenticate', 'ApiKey realm="vault", header="X-Admin-Key"');
    throw new ServiceError('unauthorized', 'This route needs the header X-Admin-Key with the admin key of the vault.');
  };
}

async function storedHash(db: Database): Promise<Buffer | null> {
  const row = await readVaultRow(db);
  return row?.admin_hash == null ? null : Buffer.from(row.admin_hash);
}
