import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { duration } from '@svc/service-kit/words.ts';
import { fine, problem, type Finding } from './finding.ts';

/** Automatic clock corrections are smaller than this. */
const slackMs = 10 * 60_000;
/** This program did not exist before then: a machine with an empty battery starts in 1970 or 2000. */
const notBefore = Date.UTC(2026, 0, 1);
const setIt = 'sudo timedatectl set-ntp true';
const setItOnMac = 'sudo sntp -sS time.apple.com';

/** After a clock went back, existing files seem to come from the future; budgets, retention and certificates go wrong. */
export async function examineClock(dataDir: string, now = Date.now()): Promise<Finding[]> {
  const fix = process.platform === 'darwin' ? setItOnMac : setIt;
  if (now < notBefore) return [problem('clock', `the clock of this machine says ${new Date(now).toISOString()}`, fix)];
  const latest = await latestChange(dataDir);
  if (latest === null) return [];
  if (latest.at - now > slackMs)
    return [problem('clock', `it is behind: ${latest.name} was written ${duration(latest.at - now)} from now`, fix)];
  return [fine('clock', 'is not behind the files of the data folder')];
}

/** The newest file that the service itself writes at the top of its folder. */
async function latestChange(dataDir: string): Promise<{ name: string; at: number } | null> {
  const names = (await readdir(dataDir).catch(() => [])).filter((name) => /\.db(-wal)?$|^run$|^logs$/.test(name));
  const times = await Promise.all(
    names.map(async (name) => ({ name, at: (await stat(path.join(dataDir, name)).catch(() => null))?.mtimeMs ?? 0 })),
  );
  return times.toSorted((a, b) => b.at - a.at)[0] ?? null;
}
