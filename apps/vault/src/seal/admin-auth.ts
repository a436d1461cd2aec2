import { timingSafeEqual } from 'node:crypto';
import type { Secret } from '@svc/service-kit/secret.ts';
import { ServiceError } from '@svc/service-kit/service-error.ts';
import type { Database } from '@svc/store/database.ts';
import { hashAccessKey } from '../crypto/access-key.ts';
import { readVaultRow } from '../keyring/vault-row.ts';

type Asked = { headers: Record<string, string | string[] | undefined> };
type Answer = { header(name: string, value: string): unknown };

/** A request hook that lets in who has the admin key. @throws ServiceError `unauthorized`. */
export type AdminAuth = (request: Asked, reply: Answer) => Promise<void>;

/**
 * The admin key comes as `X-Admin-Key`. `adminKey` is the operator's own; null: the one that was made with the
 * vault, which is known by its hash. Before the vault is set up, without a key of the operator's, nobody is let in.
 */
export function createAdminAuth(db: Database, adminKey: Secret | null): AdminAuth {
  return async function adminAuth(request, reply) {
    const expected = adminKey === null ? await storedHash(db) : hashAccessKey(adminKey.reveal());
    const given = request.headers['x-admin-key'];
    // Digests have one length, so the comparison takes one time.
    if (expected !== null && typeof given === 'string' && timingSafeEqual(expected, hashAccessKey(given))) return;
    // Every 401 names what is asked for. There is no registered scheme for a header, so this one says its own.
    reply.header('www-authenticate', 'ApiKey realm="vault", header="X-Admin-Key"');
    throw new ServiceError('unauthorized', 'This route needs the header X-Admin-Key with the admin key of the vault.');
  };
}

async function storedHash(db: Database): Promise<Buffer | null> {
  const row = await readVaultRow(db);
  return row?.admin_hash == null ? null : Buffer.from(row.admin_hash);
}
