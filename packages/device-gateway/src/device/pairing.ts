import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Clock } from '@svc/service-kit/clock.ts';
import { forgetOldest } from '@svc/service-kit/forget-oldest.ts';

/** Codes for pairing: each for one device, once, for ten minutes. They do not survive a restart. */
export type PairingCodes = {
  /** Creates a code, which replaces the device's earlier one. `expiresAt`: epoch ms. */
  issue(deviceId: string): { code: string; expiresAt: number };
  /** The device of a code; null for one that is wrong, used or expired. The code stays valid until `drop`. */
  deviceOf(code: string): string | null;
  /** Whether the device may still pair. */
  isOpen(deviceId: string): boolean;
  /** The device has paired, or may no longer pair. */
  drop(deviceId: string): void;
};

const lifeMs = 10 * 60_000;
/** Maximum number of open codes; the oldest is forgotten first. */
const maxOpen = 200;

type Open = { digest: Buffer; endsAt: number };

/** @param clock its `elapsed` measures the lifetime, so that changing the system time does not extend it */
export function createPairingCodes(clock: Pick<Clock, 'elapsed' | 'now'>): PairingCodes {
  const open = new Map<string, Open>();
  const isLive = ({ endsAt }: Open): boolean => clock.elapsed() < endsAt;

  return {
    issue(deviceId) {
      // 128 bits: nobody needs to type it, because it is part of a link, and nobody can guess it.
      const code = randomBytes(16).toString('base64url');
      open.delete(deviceId);
      open.set(deviceId, { digest: digest(code), endsAt: clock.elapsed() + lifeMs });
      forgetOldest(open, maxOpen);
      return { code, expiresAt: clock.now() + lifeMs };
    },
    deviceOf(code) {
      const given = digest(code);
      for (const [deviceId, each] of open) if (timingSafeEqual(each.digest, given) && isLive(each)) return deviceId;
      return null;
    },
    isOpen(deviceId) {
      const each = open.get(deviceId);
      return each !== undefined && isLive(each);
    },
    drop: (deviceId) => void open.delete(deviceId),
  };
}

const digest = (code: string): Buffer => hash('sha256', code, 'buffer');
