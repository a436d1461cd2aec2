import { existsSync } from 'node:fs';
import path from 'node:path';
import { programEnv, runProgram } from '../control/run-program.ts';

/** A terminal of tmux. `socket`: of the server it is in; null for the server of this user. `pid`: of what was started in it. */
export type Pane = { socket: string | null; id: string; pid: number };

const timeoutMs = 3000;
const maxBytes = 256 * 1024;

/** The terminals of the servers that run. A server that is not there is not started. Never rejects. */
export async function listPanes(serviceSocket: string): Promise<Pane[]> {
  const servers = [serviceSocket, null].filter((socket) => existsSync(socket ?? userSocket()));
  return (await Promise.all(servers.map(panesOf))).flat();
}

const userSocket = (): string => path.join(programEnv()['TMUX_TMPDIR'] || '/tmp', `tmux-${process.getuid?.()}`, 'default');

async function panesOf(socket: string | null): Promise<Pane[]> {
  const server = socket === null ? [] : ['-S', socket];
  const args = [...server, 'list-panes', '-a', '-F', '#{pane_id} #{pane_pid}'];
  const { stdout } = await runProgram('tmux', args, { env: programEnv(), timeoutMs, maxBytes }).catch(() => ({ stdout: '' }));
  return [...stdout.matchAll(/^(%\d+) (\d+)$/gm)].map(([, id = '', pid]) => ({ socket, id, pid: Number(pid) }));
}
