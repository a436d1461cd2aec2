import type { Clock } from '@svc/service-kit/clock.ts';
import { makeCode, readCode } from './pairing-code.ts';
import { hasLiveCode, type PendingRegister } from './pending-register.ts';
import type { PendingRow } from './pending-store.ts';

const lifeMs = 60 * 60_000;
const dayMs = 24 * 60 * 60_000;
const maxLive = 100;
/** So that a flood of one channel leaves codes for those of the others. */
const maxLivePerSurface = 25;
const maxPerDay = 3;

/** The live pairing codes: few, short-lived, and each one sender's. */
export function createPairingCodes(register: Pick<PendingRegister, 'all' | 'changed'>, clock: Clock) {
  /** Oldest first, so those that expire stand in front. */
  const live = new Map<string, PendingRow>();
  const byExpiry = (a: PendingRow, b: PendingRow) => Number(a.code_expires_at) - Number(b.code_expires_at);
  for (const row of register.all().toSorted(byExpiry)) {
    if (row.code !== null && hasLiveCode(row, clock.now())) live.set(row.code, row);
  }

  const dropExpired = () => {
    const now = clock.now();
    for (const [code, row] of live) {
      if (row.code === code && hasLiveCode(row, now)) return;
      live.delete(code);
    }
  };

  const liveOn = (surface: string): number => [...live.values()].filter((row) => row.surface === surface).length;

  /** Null when this sender, those of the channel, or all together have had enough of them. */
  const give = (row: PendingRow): string | null => {
    const now = clock.now();
    const given = now - row.codes_since < dayMs ? row.codes_given : 0;
    dropExpired();
    if (given >= maxPerDay || live.size >= maxLive || liveOn(row.surface) >= maxLivePerSurface) return null;
    let code = makeCode();
    while (live.has(code)) code = makeCode();
    if (given === 0) row.codes_since = now;
    row.codes_given = given + 1;
    row.code = code;
    row.code_expires_at = now + lifeMs;
    live.set(code, row);
    register.changed(row);
    return code;
  };

  return {
    /** The sender's code while it lives, else a fresh one, else null. */
    codeFor: (row: PendingRow): string | null => (hasLiveCode(row, clock.now()) ? row.code : give(row)),

    /** Whose live code somebody typed. */
    find(text: string): PendingRow | undefined {
      dropExpired();
      const code = readCode(text);
      return code === null ? undefined : live.get(code);
    },

    release(row: PendingRow): void {
      if (row.code !== null && live.get(row.code) === row) live.delete(row.code);
    },
  };
}

export type PairingCodes = ReturnType<typeof createPairingCodes>;
