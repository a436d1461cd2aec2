import { isWithin, type Clock } from '@svc/service-kit/clock.ts';
import { makeCode, readCode } from './pairing-code.ts';
import { codeLifeMs as lifeMs, hasLiveCode, type PendingSenders } from './pending-senders.ts';
import type { PendingRow } from './pending-store.ts';

const dayMs = 24 * 60 * 60_000;
const maxLive = 100;
/** So that a flood on one channel leaves codes for the others. */
const maxLivePerSurface = 25;
/** At that limit the oldest code is replaced, but not before its sender had this long to pass it on. */
const protectedMs = 5 * 60_000;
const maxPerDay = 3;

/** The codes of strangers, limited per surface and per sender. */
export interface PairingCodes {
  /** The sender's live code, else a new one; null when they may have none. */
  codeFor(row: PendingRow): string | null;
  /** The sender whose live code was typed. */
  find(text: string): PendingRow | undefined;
  release(row: PendingRow): void;
}

/** The live pairing codes: few, short-lived, and each one sender's. */
export function createPairingCodes(senders: Pick<PendingSenders, 'all' | 'changed'>, clock: Clock): PairingCodes {
  /** Oldest first, so the next to expire is in front. */
  const live = new Map<string, PendingRow>();
  const byExpiry = (a: PendingRow, b: PendingRow) => Number(a.code_expires_at) - Number(b.code_expires_at);
  for (const row of senders.all().toSorted(byExpiry)) {
    if (row.code !== null && hasLiveCode(row, clock.now())) live.set(row.code, row);
  }

  const dropExpired = () => {
    const now = clock.now();
    for (const [code, row] of live) {
      if (row.code === code && hasLiveCode(row, now)) return;
      live.delete(code);
    }
  };

  const release = (row: PendingRow): void => {
    if (row.code !== null && live.get(row.code) === row) live.delete(row.code);
  };

  /** Withdraws the oldest of these codes. False while it is still protected. */
  const takeBackOldest = (rows: readonly PendingRow[], now: number): boolean => {
    const [oldest] = rows;
    if (oldest === undefined || Number(oldest.code_expires_at) - lifeMs + protectedMs > now) return false;
    release(oldest);
    oldest.code = null;
    oldest.code_expires_at = null;
    senders.changed(oldest);
    return true;
  };

  /** There may be any number of strangers, so codes that nobody passed on must not keep a newcomer out. */
  const makeRoom = (surface: string, now: number): boolean => {
    const rows = [...live.values()];
    const here = rows.filter((row) => row.surface === surface);
    if (here.length >= maxLivePerSurface) return takeBackOldest(here, now);
    return rows.length < maxLive || takeBackOldest(rows, now);
  };

  /** Null when this sender has had too many, or when all codes are in use and still protected. */
  const give = (row: PendingRow): string | null => {
    const now = clock.now();
    const given = isWithin(row.codes_since, dayMs, now) ? row.codes_given : 0;
    dropExpired();
    if (given >= maxPerDay || !makeRoom(row.surface, now)) return null;
    let code = makeCode();
    while (live.has(code)) code = makeCode();
    if (given === 0) row.codes_since = now;
    row.codes_given = given + 1;
    row.code = code;
    row.code_expires_at = now + lifeMs;
    live.set(code, row);
    senders.changed(row);
    return code;
  };

  return {
    codeFor: (row: PendingRow): string | null => (hasLiveCode(row, clock.now()) ? row.code : give(row)),

    find(text: string): PendingRow | undefined {
      dropExpired();
      const code = readCode(text);
      return code === null ? undefined : live.get(code);
    },

    release,
  };
}
