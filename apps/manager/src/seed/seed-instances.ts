import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { userInfo } from 'node:os';
import path from 'node:path';
import { makePrivateDir, writeFileAtomic } from '@svc/service-kit/files.ts';
import type { ManagerContext } from '../context.ts';

type Deps = Pick<ManagerContext, 'settings' | 'paths' | 'clock' | 'log' | 'store' | 'types'>;

const seededKey = 'seeded';
/** The first instance of a type has the type's name as its id. */
const type = 'compat';

/**
 * On the very first start: creates an enabled chat completions API with one key for the owner. The file of the key is
 * written before the row, so that an interrupted start finds its key again. An instance that is deleted later stays deleted.
 */
export async function seedInstances({ settings, paths, clock, log, store, types }: Deps): Promise<void> {
  if ((await store.readMeta(seededKey)) !== null) return;
  const found = types.find(type);
  if (found === null) {
    log.warn(`There is no connector type "${type}", so no first connector was set up.`);
    return;
  }
  const keysFile = keysFileOf(paths, type);
  ensureKeysFile(keysFile);
  const config = types.validate(found.meta, { port: settings.compatPort, keys_file: keysFile });
  const now = clock.now();
  await store.transaction(async (inside) => {
    if ((await inside.list()).length === 0) {
      const id = await inside.nextId(type);
      await inside.create({ id, type, name: found.meta.displayName, enabled: true, config, created_at: now, updated_at: now });
    }
    await inside.writeMeta(seededKey, String(now));
  });
  log.info({ keysFile }, 'first start: an instance of the chat completions API was set up');
}

/**
 * An instance stores the full path of its keys file, which changes when the data folder is moved, copied, or restored for another user. The file in the
 * new folder is then used, even if the old one still exists, unless a person has changed the instance and may have meant the old one.
 */
export async function followKeysFiles({ paths, log, store }: Pick<Deps, 'paths' | 'log' | 'store'>): Promise<void> {
  for (const instance of await store.list()) {
    const { id, config, created_at: createdAt, updated_at: updatedAt } = instance;
    const { keys_file: named } = config;
    const own = keysFileOf(paths, id);
    if (typeof named !== 'string' || named === own || !named.endsWith(path.join('/', 'instances', id, 'keys.json'))) continue;
    if (!existsSync(own) || (existsSync(named) && createdAt !== updatedAt)) continue;
    await store.update({ ...instance, config: { ...config, keys_file: own } });
    log.info(
      { instance: id, was: named, keysFile: own },
      "the data folder was moved, so the path of an instance's keys file was updated",
    );
  }
}

const keysFileOf = ({ instances }: Deps['paths'], id: string): string => path.join(instances, id, 'keys.json');

/** Keeps a file that contains a key; anything else is left over from an interrupted start. */
function ensureKeysFile(file: string): void {
  const dir = path.dirname(file);
  makePrivateDir(dir);
  for (const name of readdirSync(dir)) if (name.endsWith('.tmp')) rmSync(path.join(dir, name));
  if (hasKey(file)) return;
  const key = `sk-svc-${randomBytes(32).toString('base64url')}`;
  writeFileAtomic(file, `${JSON.stringify({ keys: [{ key, identity: 'owner', username: userName() }] }, null, 2)}\n`);
}

function hasKey(file: string): boolean {
  if (!existsSync(file)) return false;
  try {
    const { keys } = JSON.parse(readFileSync(file, 'utf8')) as { keys?: unknown };
    return Array.isArray(keys) && keys.length > 0;
  } catch {
    // The parser's message may quote a part of the file, which contains keys.
    throw new Error(`${file} exists but is not a keys file. Correct it or move it away.`);
  }
}

/** A user without an entry in the system's list has no name; then it is `owner`. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return 'owner';
  }
}
