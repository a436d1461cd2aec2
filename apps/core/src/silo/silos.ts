import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { Silo, SiloFile } from '@svc/contract/silo.ts';
import { atLeast, type Tier } from '@svc/contract/trust.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import type { Ids } from '@svc/service-kit/ids.ts';
import { badRequest, conflict, notFound, ServiceError } from '@svc/service-kit/service-error.ts';
import type { VaultClient } from '@svc/service-kit/vault/create-vault-client.ts';
import type { Database } from '@svc/store/database.ts';
import { isPlainPath, mimeOfName, plainMime } from '../file/file-name.ts';
import { storageFault } from '../file/store-stream.ts';
import { open, seal } from './sealed-stream.ts';
import { createSiloBlobs, type SiloBlobs } from './silo-blobs.ts';
import { createSiloKeys, type SiloKeys } from './silo-keys.ts';
import { createSiloStore, type SiloFileRow, type SiloRow, type SiloStore } from './silo-store.ts';

export type SiloDeps = {
  db: Database;
  folder: string;
  vault: Pick<VaultClient, 'generateSiloKey' | 'unwrapSiloKey'> | null;
  clock: Clock;
  ids: Ids;
};

/** How to read a file of a silo: from its place on the disk, or as a stream that is unsealed on the way. */
export type SiloContent = { file: SiloFile } & ({ place: string } | { stream: Readable });

/** Named private file stores. Their paths are names in the database, never paths on the disk. */
export class Silos {
  readonly #deps: SiloDeps;
  readonly #store: SiloStore;
  readonly #blobs: SiloBlobs;
  readonly #keys: SiloKeys;
  /** Blobs being written, which no row names yet. */
  readonly #writing = new Set<string>();

  constructor(deps: SiloDeps) {
    this.#deps = deps;
    this.#store = createSiloStore(deps.db);
    this.#blobs = createSiloBlobs(deps.folder);
    this.#keys = createSiloKeys({ store: this.#store, vault: deps.vault, clock: deps.clock });
  }

  /** @throws ServiceError `conflict` for a name that is taken. */
  async create(name: string, minTrust: Tier): Promise<Silo> {
    const id = this.#deps.ids.next('silo');
    if (await this.#store.create(id, name, minTrust, this.#deps.clock.now())) return this.read(id);
    throw conflict(`A silo named "${name}" already exists.`);
  }

  list = async (): Promise<Silo[]> => (await this.#store.list()).map((row) => this.#toSilo(row));

  /** @throws ServiceError `not_found`. */
  read = async (id: string): Promise<Silo> => this.#toSilo(await this.#silo(id));

  /** Files in the order of their paths, after `after`. */
  async files(id: string, after: string, limit: number): Promise<SiloFile[]> {
    return (await this.#store.files((await this.#silo(id)).id, after, limit)).map(toFile);
  }

  /** For callers other than the operator. @throws ServiceError `forbidden` below the silo's own tier. */
  async checkTrust(id: string, tier: Tier): Promise<void> {
    const silo = await this.#silo(id);
    if (!atLeast(tier, silo.min_trust))
      throw new ServiceError('forbidden', `This silo requires trust of ${silo.min_trust} or above.`);
  }

  /**
   * Stores a file, replacing one with the same path. The old file stays until the new one is completely on the disk.
   * @throws ServiceError `bad_request`, `not_found`, `insufficient_storage`, `unavailable` while the vault is closed.
   */
  async write(id: string, path: string | undefined, body: Readable, mime?: string): Promise<SiloFile> {
    const place = siloPath(path);
    const silo = await this.#silo(id);
    const key = await this.#keys.keyFor(silo);
    const blob = this.#deps.ids.next('blob');
    this.#writing.add(blob);
    try {
      const count = counter(body);
      const content = key === null ? count.passed : seal(count.passed, key, { silo: silo.id, path: place });
      await this.#blobs.write(silo.id, blob, content);
      const now = this.#deps.clock.now();
      const facts = { ...count.end(), mime: plainMime(mime) ?? (await mimeOfName(place)), encrypted: key !== null };
      const before = await this.#store.put(silo.id, { path: place, blob, ...facts, created_at: now, updated_at: now });
      if (before !== null) await this.#blobs.remove(silo.id, before.blob);
      return toFile({ path: place, blob, ...facts, created_at: before?.created_at ?? now, updated_at: now });
    } catch (error) {
      await this.#forgetUnless(silo.id, place, blob);
      throw storageFault(error);
    } finally {
      this.#writing.delete(blob);
    }
  }

  /** Removes a blob that no row names; when the row cannot be read now, the next start's sweep decides. */
  async #forgetUnless(silo: string, path: string, blob: string): Promise<void> {
    const row = await this.#store.file(silo, path).catch(() => ({ blob }));
    if (row?.blob !== blob) await this.#blobs.remove(silo, blob);
  }

  /** @throws ServiceError `bad_request`, `not_found`, `unavailable` while the vault is closed. */
  async content(id: string, path: string | undefined): Promise<SiloContent> {
    const silo = await this.#silo(id);
    const row = await this.#store.file(silo.id, siloPath(path));
    if (row === null) throw notFound('file', path ?? '');
    const handle = await this.#open(silo.id, row);
    if (!row.encrypted) {
      await handle.close();
      return { file: toFile(row), place: this.#blobs.fileOf(silo.id, row.blob) };
    }
    try {
      const key = await this.#keys.keyFor(silo);
      if (key === null)
        throw new ServiceError('unavailable', 'This file is sealed, and there is no vault to open it. Set SVC_VAULT_URL.');
      const sealed = handle.createReadStream({ highWaterMark: 256 * 1024 });
      const stream = Readable.from(open(sealed, key, { silo: silo.id, path: row.path }), { objectMode: false });
      // A stream that is closed before it is read never ends its source.
      stream.once('close', () => sealed.destroy());
      return { file: toFile(row), stream };
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  async #open(silo: string, row: SiloFileRow) {
    try {
      return await this.#blobs.open(silo, row.blob);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'ENOENT' || code === 'ELOOP') throw notFound('file', row.path);
      throw error;
    }
  }

  /** @throws ServiceError `bad_request`, `not_found`. */
  async delete(id: string, path: string | undefined): Promise<void> {
    const silo = await this.#silo(id);
    const before = await this.#store.remove(silo.id, siloPath(path));
    if (before === null) throw notFound('file', path ?? '');
    await this.#blobs.remove(silo.id, before.blob);
  }

  /**
   * Removes a silo permanently, and its files only with `withFiles`.
   * @throws ServiceError `not_found`, `conflict` for a silo that has files.
   */
  async drop(id: string, withFiles: boolean): Promise<void> {
    const silo = await this.#silo(id);
    const files = await this.#store.drop(silo.id, withFiles ? Number.MAX_SAFE_INTEGER : 0);
    if (files > 0 && !withFiles) {
      throw conflict(`The silo "${silo.name}" has files (${files}). Delete them first, or add with_files=1.`, { files });
    }
    this.#keys.forget(silo.id);
    await this.#blobs.removeAll(silo.id);
  }

  /** The vault is closed: sealed files cannot be read or written until it provides its keys again. */
  forgetKeys = (): void => this.#keys.forgetAll();

  /** Prevents the removal of blobs during a backup. */
  hold = (): (() => void) => this.#blobs.hold();

  /** Removes blobs that an earlier process wrote without adding their row. */
  async sweep(): Promise<void> {
    const lying = await this.#blobs.silos(); // before the rows, for the same reason as below
    const rows = await this.#store.list();
    const known = new Set(rows.map(({ id }) => id));
    for (const id of lying) if (!known.has(id)) await this.#blobs.removeAll(id);
    for (const { id } of rows) {
      // Listed before the rows, without the blobs being written: one that gets its row meanwhile is then in neither list.
      const found = (await this.#blobs.list(id)).filter((blob) => !this.#writing.has(blob));
      const named = new Set(await this.#store.blobs(id));
      for (const blob of found) if (!named.has(blob)) await this.#blobs.remove(id, blob);
    }
  }

  async #silo(id: string): Promise<SiloRow> {
    const row = await this.#store.read(id);
    if (row === undefined) throw notFound('silo', id);
    return row;
  }

  #toSilo(row: SiloRow): Silo {
    const { id, name, min_trust, files, bytes, created_at } = row;
    return { id, name, min_trust, encrypted: this.#keys.seals(row), files, bytes, created_at };
  }
}

const toFile = ({ path, bytes, sha256, mime, encrypted, created_at, updated_at }: SiloFileRow): SiloFile => ({
  path,
  bytes,
  sha256,
  mime,
  encrypted,
  created_at,
  updated_at,
});

/** Passes a body through and computes its size and digest. */
function counter(body: AsyncIterable<Buffer>) {
  const hash = createHash('sha256');
  let bytes = 0;
  async function* pass(): AsyncGenerator<Buffer> {
    for await (const part of body) {
      hash.update(part);
      bytes += part.length;
      yield part;
    }
  }
  return { passed: pass(), end: () => ({ bytes, sha256: hash.digest('hex') }) };
}

/** The normalized path of a file in a silo. @throws ServiceError `bad_request` for anything but a relative path. */
export function siloPath(text: string | undefined): string {
  const path = (text ?? '').normalize('NFC');
  // A path with a drive letter, as on Windows, is absolute too.
  if (isPlainPath(path) && !/^[a-z]:/i.test(path)) return path;
  throw badRequest(
    'path must be the relative path of a file in the silo, such as notes/plan.md, without ".", ".." or empty parts.',
  );
}
