import { randomBytes } from 'node:crypto';
import { closeSync, constants, fstatSync, openSync, readFileSync, statSync } from 'node:fs';
import type { StartContext } from '@svc/connector-kit';
import type { Clock } from '@svc/service-kit/clock.ts';
import { writeFileAtomic } from '@svc/service-kit/config/data-dir.ts';
import { conflict, errorText, notFound, unavailable } from '@svc/service-kit/service-error.ts';
import { digestOf, harmless, maxAllowed, maxDevices, parseDevices, writeDevices, type DeviceRecord } from './device-record.ts';

/** The devices of an instance, as the keys file has them. A change is on the disk when its call returns. */
export type Devices = {
  /** Whose token it is; null for nobody. Takes the bytes of a header as Node gives them (latin1). */
  byToken(token: string): DeviceRecord | null;
  find(deviceId: string): DeviceRecord | null;
  list(): DeviceRecord[];
  /** A device that is to come. */
  add(name: string): DeviceRecord;
  /** It has come: gives its token, this once. */
  pair(deviceId: string, platform: string | null): { device: DeviceRecord; token: string };
  rename(deviceId: string, name: string): DeviceRecord;
  /** What the device may be used for from now on, or no more. */
  allow(deviceId: string, capability: string): DeviceRecord;
  deny(deviceId: string, capability: string): DeviceRecord;
  /** Its token is worth nothing any more. */
  remove(deviceId: string): DeviceRecord;
  /** It has been here. Known at once, written now and then. */
  seen(deviceId: string): void;
  /** Null while the file is good or not there, else what is wrong with it: then nobody gets in. */
  problem(): string | null;
};

type Options = { file: string; clock: Clock; log: StartContext['log'] };
type Known = { byId: Map<string, DeviceRecord>; byDigest: Map<string, DeviceRecord> };

/** How long what was removed by hand may live on, ms. */
const recheckMs = 1_000;
/** Visits of all devices are written this often at most, ms: each write of the file has others read it again. */
const seenEveryMs = 5 * 60_000;
/** As of every file with keys. */
const maxFileBytes = 4 * 1024 * 1024;
const nobody: Known = { byId: new Map(), byDigest: new Map() };

/**
 * The keys file of a gateway. It may be edited by hand: it is looked at again when it is used, at most once a second. One that cannot be read or
 * understood, is a link, or can be read by others lets nobody in, and is not written over.
 */
export function openDevices({ file, clock, log }: Options): Devices {
  let known = nobody;
  let problem: string | null = null;
  let version: string | null = null;
  let checkedAt = Number.NEGATIVE_INFINITY;
  let visitsWrittenAt = clock.elapsed();

  function current(): Known {
    if (clock.elapsed() - checkedAt >= recheckMs) refresh();
    return known;
  }

  function refresh(): void {
    checkedAt = clock.elapsed();
    const found = versionOf(file);
    if (found === version) return;
    version = found;
    const before = problem;
    try {
      const text = readText(file);
      const { devices, hasTokens } = text === null ? { devices: [], hasTokens: false } : parseDevices(text, clock.now());
      if (hasTokens) write(devices);
      known = toKnown(devices);
      problem = null;
    } catch (error) {
      known = nobody;
      // The system's own message names the path, and the problem is shown to anyone who asks for the health.
      const { code } = error as NodeJS.ErrnoException;
      problem = `The keys file lets nobody in: ${code === undefined ? errorText(error) : `it cannot be read (${code})`}.`;
      if (code !== undefined) version = null; // may pass without a change of the file
      if (problem !== before) log('error', problem, { file });
    }
  }

  function write(devices: Iterable<DeviceRecord>): void {
    writeFileAtomic(file, writeDevices(devices));
    version = versionOf(file);
  }

  /** Changes what the file says now. */
  function change(edit: (byId: Map<string, DeviceRecord>) => void): void {
    refresh();
    if (problem !== null) throw unavailable(problem);
    const byId = new Map(known.byId);
    edit(byId);
    write(byId.values());
    known = toKnown(byId.values());
  }

  function edited(deviceId: string, fieldsOf: (before: DeviceRecord) => Partial<DeviceRecord>): DeviceRecord {
    let after: DeviceRecord | undefined;
    change((byId) => {
      const before = existing(byId, deviceId);
      after = { ...before, ...fieldsOf(before) };
      byId.set(deviceId, after);
    });
    return after!;
  }

  const allowing = (deviceId: string, change: (before: string[]) => string[]): DeviceRecord =>
    edited(deviceId, ({ allowed: before }) => {
      const allowed = change(before);
      if (allowed.length > maxAllowed) throw conflict(`A device may be used for ${maxAllowed} things at most. Deny some first.`);
      return { allowed };
    });

  return {
    byToken: (token) => current().byDigest.get(digestOf(token)) ?? null,
    find: (deviceId) => current().byId.get(deviceId) ?? null,
    list: () => [...current().byId.values()],
    add(name) {
      const id = `d_${randomBytes(9).toString('base64url')}`;
      const device: DeviceRecord = {
        device_id: id,
        token_sha256: null,
        identity: id,
        username: name,
        name,
        platform: null,
        created_at: clock.now(),
        last_seen_at: null,
        allowed: [...harmless],
      };
      change((byId) => {
        if (byId.size >= maxDevices) throw conflict(`There are ${maxDevices} devices. Revoke some first.`);
        if ([...byId.values()].some((other) => other.name === name))
          throw conflict(`There is a device "${name}" already. Choose another name, or revoke that one.`);
        byId.set(id, device);
      });
      return device;
    },
    pair(deviceId, platform) {
      const token = `svcd_${randomBytes(32).toString('base64url')}`;
      const device = edited(deviceId, () => ({ token_sha256: digestOf(token), platform, last_seen_at: clock.now() }));
      return { device, token };
    },
    rename: (deviceId, name) => edited(deviceId, () => ({ name, username: name })),
    allow: (deviceId, capability) => allowing(deviceId, (before) => [...new Set([...before, capability])]),
    deny: (deviceId, capability) => allowing(deviceId, (before) => before.filter((name) => name !== capability)),
    remove(deviceId) {
      let gone: DeviceRecord | undefined;
      change((byId) => {
        gone = existing(byId, deviceId);
        byId.delete(deviceId);
      });
      return gone!;
    },
    seen(deviceId) {
      const device = current().byId.get(deviceId);
      if (device === undefined) return;
      device.last_seen_at = clock.now();
      if (clock.elapsed() - visitsWrittenAt < seenEveryMs) return;
      visitsWrittenAt = clock.elapsed();
      const visits = known.byId;
      try {
        change((byId) => {
          for (const [id, there] of byId)
            byId.set(id, { ...there, last_seen_at: visits.get(id)?.last_seen_at ?? there.last_seen_at });
        });
      } catch (error) {
        log('warn', 'when devices were last here could not be written', { error: errorText(error) });
      }
    },
    problem() {
      current();
      return problem;
    },
  };
}

function existing(byId: ReadonlyMap<string, DeviceRecord>, deviceId: string): DeviceRecord {
  const device = byId.get(deviceId);
  if (device === undefined) throw notFound('device', deviceId);
  return device;
}

function toKnown(devices: Iterable<DeviceRecord>): Known {
  const list = [...devices];
  return {
    byId: new Map(list.map((device) => [device.device_id, device])),
    byDigest: new Map(list.flatMap((device) => (device.token_sha256 === null ? [] : [[device.token_sha256, device]]))),
  };
}

/** Null where there is no file. Without waiting: a pipe in its place would hold up the whole process. */
function readText(file: string): string | null {
  let handle: number;
  try {
    handle = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
  try {
    const stats = fstatSync(handle);
    if (!stats.isFile()) throw new Error('it is not a file');
    if (stats.size > maxFileBytes) throw new Error(`it is larger than ${maxFileBytes} bytes`);
    if ((stats.mode & 0o077) !== 0) throw new Error('others can read it; set its mode to 0600');
    return readFileSync(handle, 'utf8');
  } finally {
    closeSync(handle);
  }
}

/** Changes with the file: the inode's own time also shows a new mode, and a copy that kept its date. */
function versionOf(file: string): string {
  try {
    const { ino, size, ctimeMs } = statSync(file);
    return `${ino} ${size} ${ctimeMs}`;
  } catch (error) {
    return errorText(error); // reported when it is read
  }
}
