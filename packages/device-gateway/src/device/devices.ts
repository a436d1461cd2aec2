import { randomBytes } from 'node:crypto';
import type { StartContext } from '@svc/connector-kit';
import { openPrivateFile } from '@svc/connector-kit/private-file.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import { conflict, errorText, notFound, unavailable } from '@svc/service-kit/service-error.ts';
import {
  digestOf,
  harmless,
  maxAllowed,
  maxDevices,
  parseDevices,
  writeDevices,
  type DeviceRecord,
  type Parsed,
} from './device-record.ts';

/** The devices of an instance, as listed in the keys file. A change is on disk when its call returns. */
export type Devices = {
  /** The device with this token; null for none. Accepts the bytes of a header as Node passes them (latin1). */
  byToken(token: string): DeviceRecord | null;
  find(deviceId: string): DeviceRecord | null;
  list(): DeviceRecord[];
  /** Adds a device that has yet to pair. */
  add(name: string): DeviceRecord;
  /** Pairs a device: returns its token, which is never shown again. */
  pair(deviceId: string, platform: string | null): { device: DeviceRecord; token: string };
  rename(deviceId: string, name: string): DeviceRecord;
  /** Allows or removes a capability of a device. */
  allow(deviceId: string, capability: string): DeviceRecord;
  deny(deviceId: string, capability: string): DeviceRecord;
  /** Removes a device and invalidates its token. */
  remove(deviceId: string): DeviceRecord;
  /** The device was active. Known at once, but written to the file only now and then. */
  seen(deviceId: string): void;
  /** Null while the file is valid or missing, else what is wrong with it: then nobody is admitted. */
  problem(): string | null;
};

type Options = { file: string; clock: Clock; log: StartContext['log'] };
/** `hasTokens`: the text contained tokens, which are then replaced by digests. */
type Known = { byId: Map<string, DeviceRecord>; byDigest: Map<string, DeviceRecord>; hasTokens: boolean };

/** Minimum interval of writing the activity of all devices, ms, because each write makes readers load the file again. */
const seenEveryMs = 5 * 60_000;
const nobody: Known = { byId: new Map(), byDigest: new Map(), hasTokens: false };

/**
 * The keys file of a gateway. It may be edited by hand, so it is checked for changes when it is used, at most once a second. A file that
 * cannot be read or parsed, is a link, or can be read by others admits nobody, and is not overwritten.
 */
export function openDevices({ file, clock, log }: Options): Devices {
  const keys = openPrivateFile<Known>({
    file,
    name: 'keys file',
    parse: (text) => toKnown(parseDevices(text, clock.now())),
    empty: nobody,
    mayBeMissing: true,
    refusesLinks: true,
    mustBePrivate: true,
    rewrite: ({ byId, hasTokens }) => (hasTokens ? writeDevices(byId.values()) : null),
    clock,
    log,
  });
  let visitsWrittenAt = clock.elapsed();

  /** Applies a change to the present content of the file. */
  function change(edit: (byId: Map<string, DeviceRecord>) => void): void {
    const byId = new Map(keys.readNow().byId);
    const problem = keys.problem();
    if (problem !== null) throw unavailable(problem);
    edit(byId);
    keys.write(writeDevices(byId.values()), toKnown({ devices: [...byId.values()], hasTokens: false }));
  }

  type Edit = (before: DeviceRecord, byId: ReadonlyMap<string, DeviceRecord>) => Partial<DeviceRecord>;
  function edited(deviceId: string, fieldsOf: Edit): DeviceRecord {
    let after: DeviceRecord | undefined;
    change((byId) => {
      const before = existing(byId, deviceId);
      after = { ...before, ...fieldsOf(before, byId) };
      byId.set(deviceId, after);
    });
    return after!;
  }

  const allowing = (deviceId: string, change: (before: string[]) => string[]): DeviceRecord =>
    edited(deviceId, ({ allowed: before }) => {
      const allowed = change(before);
      if (allowed.length > maxAllowed)
        throw conflict(`At most ${maxAllowed} capabilities can be allowed for a device. Deny some first.`);
      return { allowed };
    });

  return {
    byToken: (token) => keys.read().byDigest.get(digestOf(token)) ?? null,
    find: (deviceId) => keys.read().byId.get(deviceId) ?? null,
    list: () => [...keys.read().byId.values()],
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
        if (byId.size >= maxDevices)
          throw conflict(`There are already ${maxDevices} devices, which is the maximum. Revoke some first.`);
        checkFree(byId, name);
        byId.set(id, device);
      });
      return device;
    },
    pair(deviceId, platform) {
      const token = `svcd_${randomBytes(32).toString('base64url')}`;
      const device = edited(deviceId, () => ({ token_sha256: digestOf(token), platform, last_seen_at: clock.now() }));
      return { device, token };
    },
    rename: (deviceId, name) =>
      edited(deviceId, ({ name: before }, byId) => {
        if (name !== before) checkFree(byId, name);
        return { name, username: name };
      }),
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
      const device = keys.read().byId.get(deviceId);
      if (device === undefined) return;
      device.last_seen_at = clock.now();
      if (clock.elapsed() - visitsWrittenAt < seenEveryMs) return;
      visitsWrittenAt = clock.elapsed();
      const visits = keys.read().byId;
      try {
        change((byId) => {
          for (const [id, there] of byId)
            byId.set(id, { ...there, last_seen_at: visits.get(id)?.last_seen_at ?? there.last_seen_at });
        });
      } catch (error) {
        log('warn', 'the last visits of devices could not be saved', { error: errorText(error) });
      }
    },
    problem: keys.problem,
  };
}

/** Names must be unique, because a message that is sent to a name must reach no other device. */
function checkFree(byId: ReadonlyMap<string, DeviceRecord>, name: string): void {
  if ([...byId.values()].some((other) => other.name === name))
    throw conflict(`There is already a device "${name}". Choose another name, or revoke that device.`);
}

function existing(byId: ReadonlyMap<string, DeviceRecord>, deviceId: string): DeviceRecord {
  const device = byId.get(deviceId);
  if (device === undefined) throw notFound('device', deviceId);
  return device;
}

function toKnown({ devices, hasTokens }: Parsed): Known {
  return {
    byId: new Map(devices.map((device) => [device.device_id, device])),
    byDigest: new Map(devices.flatMap((device) => (device.token_sha256 === null ? [] : [[device.token_sha256, device]]))),
    hasTokens,
  };
}
