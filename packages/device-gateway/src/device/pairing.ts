import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Clock } from '@svc/service-kit/clock.ts';
import { forgetOldest } from '@svc/service-kit/forget-oldest.ts';

/** Codes by which devices come in: each for one device, once, for ten minutes. They are not kept over a restart. */
export type PairingCodes = {
  /** A new code takes the place of the device's earlier one. `expiresAt`: epoch ms. */
  issue(deviceId: string): { code: string; expiresAt: number };
  /** The device that a code was made for; null for one that is wrong, used or too old. It stays good until the device's code is dropped. */
  deviceOf(code: string): string | null;
  /** Whether the device may still come. */
  isOpen(deviceId: string): boolean;
  /** The device has come, or is not waited for any more. */
  drop(deviceId: string): void;
};

const lifeMs = 10 * 60_000;
/** Devices that are waited for at once; the oldest is forgotten first. */
const maxOpen = 200;

type Open = { digest: Buffer; endsAt: number };

/** @param clock its `elapsed` counts the minutes, so that a clock that is set lengthens none. */
export function createPairingCodes(clock: Pick<Clock, 'elapsed' | 'now'>): PairingCodes {
  const open = new Map<string, Open>();
  const isLive = ({ endsAt }: Open): boolean => clock.elapsed() < endsAt;

  return {
    issue(deviceId) {
      // 128 bits: it travels in a link, so nobody types it, and nobody guesses it.
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
