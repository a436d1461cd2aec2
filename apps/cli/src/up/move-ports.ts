import { findFreePort } from '@svc/supervisor/port-owner.ts';

/** A needed port, its process, and its setting. `isOptional`: the service starts without it. */
export type WantedPort = { name: string; port: number; setting: string; isOptional?: boolean };
/** A setting with a free port. */
type Move = Pick<WantedPort, 'port' | 'setting'>;
type Env = Readonly<Record<string, string | undefined>>;

/** A free port for each unavailable one: all different, and none that another of our processes needs. */
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
 * The command to type before another one to set ports permanently: it writes `.env`, which every later command reads. An environment variable
 * takes precedence over that file, so one that is set there is set again. To be typed in the folder of `./svc`.
 */
export function moveCommand(moves: readonly Move[], env: Env = process.env): string {
  const written = moves.filter(({ setting }) => env[setting] === undefined).map(toLine);
  const exported = moves.filter(({ setting }) => env[setting] !== undefined).map(toLine);
  // The file may not end with a line break.
  const parts = written.length === 0 ? [] : [`printf '\\n${written.map((line) => `${line}\\n`).join('')}' >>.env &&`];
  return [...parts, ...(exported.length === 0 ? [] : [`export ${exported.join(' ')} &&`])].join(' ');
}

const toLine = ({ setting, port }: Move): string => `${setting}=${port}`;
