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

/** What a file of a silo is read from: itself, or the parts that its sealed form gives. */
export type SiloContent = { file: SiloFile } & ({ place: string } | { stream: Readable });

/** Named private file stores. Their paths are names in the database and never places on the disk. */
export class Silos {
  readonly #deps: SiloDeps;
  readonly #store: SiloStore;
  readonly #blobs: SiloBlobs;
  readonly #keys: SiloKeys;
  /** On their way, and in no row yet. */
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

  /** In order of their paths, behind `after`. */
  async files(id: string, after: string, limit: number): Promise<SiloFile[]> {
    return (await this.#store.files((await this.#silo(id)).id, after, limit)).map(toFile);
  }

  /** For a caller other than the operator. @throws ServiceError `forbidden` below the silo's own tier. */
  async checkTrust(id: string, tier: Tier): Promise<void> {
    const silo = await this.#silo(id);
    if (!atLeast(tier, silo.min_trust))
      throw new ServiceError('forbidden', `This silo requires trust of ${silo.min_trust} or above.`);
  }

  /**
   * Stores a file, in place of the one that has its path. Until all of it is on the disk the earlier one stays.
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

  /** What no row speaks of is removed; when that cannot be known now, the sweep of the next start knows. */
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
      // One that is given up before it was read never gets to the end of its source.
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
   * Removes a silo for good, and its files only when that was said: `withFiles`.
   * @throws ServiceError `not_found`, `conflict` for one that has files.
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

  /** The vault is closed: nothing sealed is opened or written until it gives its keys again. */
  forgetKeys = (): void => this.#keys.forgetAll();

  /** Keeps bytes from being removed while a backup is made. */
  hold = (): (() => void) => this.#blobs.hold();

  /** Removes what an earlier process wrote and did not come to name. */
  async sweep(): Promise<void> {
    const lying = await this.#blobs.silos(); // before the rows, for the same reason as below
    const rows = await this.#store.list();
    const known = new Set(rows.map(({ id }) => id));
    for (const id of lying) if (!known.has(id)) await this.#blobs.removeAll(id);
    for (const { id } of rows) {
      // Before the rows, as is what is being written: what comes to its name meanwhile is in none of the two.
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

/** Lets a body pass and knows in the end what it was. */
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

/** The path of a file in a silo, in one spelling. @throws ServiceError `bad_request` for what is no relative path. */
export function siloPath(text: string | undefined): string {
  const path = (text ?? '').normalize('NFC');
  // A drive, as some systems have them, is absolute too.
  if (isPlainPath(path) && !/^[a-z]:/i.test(path)) return path;
  throw badRequest(
    'path must be the relative path of a file in the silo, such as notes/plan.md, without ".", ".." or empty parts.',
  );
}
