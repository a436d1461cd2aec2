import { hash } from 'node:crypto';
import { isRecord } from '@svc/contract/json-value.ts';
import { maxDeviceName } from '@svc/contract/device-gateway.ts';
import { methodPattern } from '@svc/contract/instance-call.ts';
import { anonymousSender } from '@svc/contract/trust.ts';

/** A device in the keys file. Only the device itself knows its token. Times are epoch ms. */
export type DeviceRecord = {
  device_id: string;
  /** SHA-256 of its token, hex; null for an invited device that has not paired yet. */
  token_sha256: string | null;
  /** Its identity in the core, on the channel of the gateway's type. */
  identity: string;
  username: string;
  name: string;
  platform: string | null;
  created_at: number;
  last_seen_at: number | null;
  /** Names of the capabilities that the owner allows. */
  allowed: string[];
};

/** Capabilities that a new device has: none that reveal anything about its person or act for them. */
export const harmless: readonly string[] = ['notify', 'vibrate', 'wake_lock'];

/** Maximum for one device. */
export const maxAllowed = 64;

export const maxDevices = 5_000;

export const digestOf = (token: string): string => hash('sha256', Buffer.from(token, 'latin1'), 'hex');

/** `hasTokens`: the text contains tokens, so it must be rewritten with digests. */
export type Parsed = { devices: DeviceRecord[]; hasTokens: boolean };

/**
 * Parses the text of a keys file. One bad entry makes the whole file invalid, because half a list of devices is not what its author wrote.
 * @throws Error that names the entry and what is wrong with it, but never a token
 */
export function parseDevices(text: string, now: number): Parsed {
  const list = (parseJson(text) as { keys?: unknown } | null)?.keys;
  if (!Array.isArray(list)) throw new Error('it must contain a list "keys"');
  if (list.length > maxDevices) throw new Error(`it has more than ${maxDevices} devices`);
  const devices = list.map((item: unknown, index) => toRecord(item, `keys[${index}]`, now));
  for (const field of ['device_id', 'token_sha256'] as const) {
    const known = new Set<string>();
    for (const [index, { [field]: value }] of devices.entries()) {
      if (value !== null && known.has(value)) throw new Error(`keys[${index}] has the same ${field} as another device`);
      if (value !== null) known.add(value);
    }
  }
  return { devices, hasTokens: list.some((item) => isRecord(item) && item['token'] !== undefined) };
}

export const writeDevices = (devices: Iterable<DeviceRecord>): string => `${JSON.stringify({ keys: [...devices] }, null, 2)}\n`;

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error('it is not valid JSON'); // the parser's own message quotes the file's content
  }
}

/** An entry written by the gateway, or by hand with as little as a `token` and an `identity`. */
function toRecord(item: unknown, at: string, now: number): DeviceRecord {
  if (!isRecord(item)) throw new Error(`${at} is not an object`);
  const { token, token_sha256: digest, identity, username = identity, platform = null } = item;
  if (!isName(identity, 256)) throw new Error(`${at}.identity must be a string of 1 to 256 characters`);
  if (identity === anonymousSender) throw new Error(`${at}.identity is "${anonymousSender}", the name of callers without a key`);
  if (!isName(username, 256)) throw new Error(`${at}.username must be a string of 1 to 256 characters`);
  if (token !== undefined && (typeof token !== 'string' || !/^[\x21-\x7e]{16,512}$/.test(token)))
    throw new Error(`${at}.token must be a string of 16 to 512 visible characters`);
  const isDigest = typeof digest === 'string' && /^[0-9a-f]{64}$/.test(digest);
  if (token === undefined && digest !== null && !isDigest) throw new Error(`${at} has no token`);
  const { device_id: id = identity, name = username } = item;
  if (!isName(id, 128)) throw new Error(`${at}.device_id must be a string of 1 to 128 characters`);
  const { allowed = harmless } = item;
  if (!isCapabilityList(allowed)) throw new Error(`${at}.allowed must be a list of at most ${maxAllowed} capability names`);
  if (!isName(name, maxDeviceName)) throw new Error(`${at}.name must be a string of 1 to ${maxDeviceName} characters`);
  return {
    device_id: id,
    token_sha256: token === undefined ? (digest as string | null) : digestOf(token),
    identity,
    username,
    name,
    platform: typeof platform === 'string' ? platform : null,
    created_at: typeof item['created_at'] === 'number' ? item['created_at'] : now,
    last_seen_at: typeof item['last_seen_at'] === 'number' ? item['last_seen_at'] : null,
    allowed: [...new Set(allowed)],
  };
}

const capabilityName = new RegExp(methodPattern);

export const isCapability = (name: unknown): name is string => typeof name === 'string' && capabilityName.test(name);

const isCapabilityList = (list: unknown): list is readonly string[] =>
  Array.isArray(list) && list.length <= maxAllowed && list.every(isCapability);

/** Only well-formed text: invalid characters would make different names equal once they are hashed. */
const isName = (value: unknown, max: number): value is string =>
  typeof value === 'string' && value.trim() !== '' && value.length <= max && value.isWellFormed() && !/\p{Cc}/u.test(value);
