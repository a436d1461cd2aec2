import { findFreePort } from '@svc/supervisor/port-owner.ts';

/** A port that is wanted, by what, and the setting that names it. `isOptional`: the service starts without it. */
export type WantedPort = { name: string; port: number; setting: string; isOptional?: boolean };
/** A setting with a port that is free. */
type Move = Pick<WantedPort, 'port' | 'setting'>;
type Env = Readonly<Record<string, string | undefined>>;

/** For each that cannot be had a port that can: none twice, and none that another process of ours wants. */
export async function planMoves(host: string, unusable: readonly WantedPort[], wanted: readonly number[]): Promise<Move[]> {
  const others = new Set(wanted);
  const moves: Move[] = [];
  for (const { setting, port } of unusable) {
    const free = await findFreePort(host, port, others);
    others.add(free);
    moves.push({ setting, port: free });
  }
  return moves;
}

/**
 * What to type in front of a command, for good: lines of `.env`, which every later command reads too. A variable of the environment wins
 * over that file, so one that is set there has to be set again there. Typed where `./svc` is.
 */
export function moveCommand(moves: readonly Move[], env: Env = process.env): string {
  const written = moves.filter(({ setting }) => env[setting] === undefined).map(toLine);
  const exported = moves.filter(({ setting }) => env[setting] !== undefined).map(toLine);
  // The line before may have no end.
  const parts = written.length === 0 ? [] : [`printf '\\n${written.map((line) => `${line}\\n`).join('')}' >>.env &&`];
  return [...parts, ...(exported.length === 0 ? [] : [`export ${exported.join(' ')} &&`])].join(' ');
}

const toLine = ({ setting, port }: Move): string => `${setting}=${port}`;
