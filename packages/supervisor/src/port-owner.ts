import { execFile } from 'node:child_process';
import { readFile, readdir, readlink } from 'node:fs/promises';
import { connect, createServer, type AddressInfo } from 'node:net';
import path from 'node:path';
import { commandLineOf } from '@svc/service-kit/process/command-line.ts';
import { installationOf, type Installation } from './installation.ts';

/** `program` is the whole command line, which may contain anything. `installation`: set when it is an Assistant Gateway. */
export type PortOwner = { pid: number; program: string; installation?: Installation | null };

/** Why the service cannot listen on a port, or null. It is found out by listening for a moment. */
export async function portFault(host: string, port: number): Promise<string | null> {
  const error = await tryToListen(host, port);
  if (error === null) return null;
  if (error.code === 'EADDRINUSE') return `is used by ${describeOwner(await findPortOwner(port))}`;
  if (error.code === 'EACCES') return 'may not be used by this user; choose a port above 1023';
  return `cannot be used: ${error.message}`;
}

/** Why an address cannot be reached, on any port; null when it can. It is found out by connecting to a server of its own. */
export const addressFault = (host: string): Promise<string | null> =>
  new Promise((resolve) => {
    const server = createServer((socket) => socket.destroy());
    const end = (fault: string | null) => {
      server.close();
      resolve(fault);
    };
    server.once('error', ({ code }: NodeJS.ErrnoException) =>
      end(code === 'EADDRNOTAVAIL' ? `this machine has no address ${host}` : null),
    );
    server.listen({ host, port: 0, exclusive: true }, () => {
      const { port } = server.address() as AddressInfo;
      const socket = connect(port, host).once('connect', () => end(null));
      // The server listens, so the network is at fault.
      socket.once('error', ({ code }: NodeJS.ErrnoException) =>
        end(code === 'ENETUNREACH' ? `the network interface of ${host} is down` : null),
      );
    });
  });

/** A step of ten keeps the ports of an installation together: 3033 beside 3034. */
const step = 10;
const tries = 50;

/** Finds a free port near `from`, which is in use, and not among `others`, by listening for a moment. */
export async function findFreePort(host: string, from: number, others: ReadonlySet<number> = new Set()): Promise<number> {
  for (let port = Math.max(from, 1024) + step; port <= Math.min(65_535, from + step * tries); port += step)
    if (!others.has(port) && (await tryToListen(host, port)) === null) return port;
  return anyFreePort(host);
}

const anyFreePort = (host: string) =>
  new Promise<number>((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen({ host, port: 0, exclusive: true }, () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });

const tryToListen = (host: string, port: number) =>
  new Promise<NodeJS.ErrnoException | null>((resolve) => {
    const server = createServer();
    server.once('error', resolve);
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(null)));
  });

/** The process that listens on a port; null when the system does not reveal it (another user's process, for instance). */
export async function findPortOwner(port: number): Promise<PortOwner | null> {
  const pid = process.platform === 'linux' ? await ownerFromProc(port) : await ownerFromLsof(port);
  if (pid === null) return null;
  const program = await commandLineOf(pid);
  return { pid, program, installation: await installationOf(pid, program) };
}

export function describeOwner(owner: PortOwner | null): string {
  if (owner === null) return 'another program (probably of another user)';
  const { pid, program, installation } = owner;
  if (installation == null) return `${shortened(program) || 'a program'} (process ${pid})`;
  const data = installation.dataDir === null ? '' : `data in ${installation.dataDir}, `;
  return `the Assistant Gateway in ${installation.root} (${data}process ${pid})`;
}

async function ownerFromProc(port: number): Promise<number | null> {
  const tables = await Promise.all(['/proc/net/tcp', '/proc/net/tcp6'].map((file) => readFile(file, 'utf8').catch(() => '')));
  const inodes = new Set(tables.flatMap((table) => listeningInodes(table, port)));
  if (inodes.size === 0) return null;
  for (const name of await readdir('/proc')) {
    if (/^\d+$/.test(name) && (await holdsSocket(name, inodes))) return Number(name);
  }
  return null;
}

/** Socket inodes that listen on a port, from a `/proc/net/tcp` table. */
export function listeningInodes(table: string, port: number): string[] {
  const wanted = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const listen = '0A';
  return table
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter((fields) => fields[1]?.endsWith(wanted) === true && fields[3] === listen)
    .flatMap((fields) => fields[9] ?? []);
}

async function holdsSocket(pid: string, inodes: ReadonlySet<string>): Promise<boolean> {
  const dir = `/proc/${pid}/fd`;
  // Processes of other users cannot be inspected, and some end meanwhile.
  const names = await readdir(dir).catch(() => []);
  const links = await Promise.all(names.map((name) => readlink(path.join(dir, name)).catch(() => '')));
  return links.some((link) => inodes.has(/^socket:\[(\d+)\]$/.exec(link)?.[1] ?? ''));
}

async function ownerFromLsof(port: number): Promise<number | null> {
  const pid = Number((await output('lsof', ['-nP', `-iTCP:${port}`, '-sTCP:LISTEN', '-t'])).split('\n')[0]);
  return Number.isInteger(pid) && pid > 0 ? pid : null;
}

/** Shortens a text to fit on a line. */
const shortened = (line: string): string => (line.length > 200 ? `${line.slice(0, 199)}…` : line);

const output = (program: string, args: string[]): Promise<string> =>
  new Promise((resolve) => execFile(program, args, { timeout: 2000 }, (_error, stdout) => resolve(stdout)));
