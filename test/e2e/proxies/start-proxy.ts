import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import path from 'node:path';
import { waitFor } from '@svc/testing/house.ts';
import { read } from '../../repository.ts';

export type ProxyName = 'nginx' | 'caddy';
/** The parts of the documented configuration that are replaced, and their replacements. */
export type Places = {
  host: string;
  /** Where the proxy listens: for the dashboard, and for the other program. */
  ports: { dashboard: number; other: number };
  /** Where the programs behind the proxy listen. */
  behind: { dashboard: number; core: number; other: number };
  certificate: string;
  key: string;
};
export type Proxy = { output(): string; stop(): Promise<void> };

const programs: Record<ProxyName, string> = { nginx: '/usr/sbin/nginx', caddy: '/usr/bin/caddy' };

export const whyNoProxy = (name: ProxyName): string | null =>
  existsSync(programs[name])
    ? null
    : `there is no ${programs[name]}: apt-get install ${name === 'nginx' ? 'nginx-light' : 'caddy'}`;

/** The real program with the configuration in docs/proxies.md, except for addresses and the certificate. */
export async function startProxy(name: ProxyName, folder: string, places: Places): Promise<Proxy> {
  mkdirSync(folder, { recursive: true });
  const args = name === 'nginx' ? nginxArgs(folder, places) : caddyArgs(folder, places);
  const env = { PATH: process.env['PATH'], HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder };
  const child = spawn(programs[name], args, { stdio: ['ignore', 'pipe', 'pipe'], env });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const stop = async () => {
    child.kill('SIGKILL'); // Caddy would wait for streams that are open; there is nothing to lose
    await exited;
  };
  try {
    for (const port of Object.values(places.ports))
      await waitFor(
        () => answers(port),
        20_000,
        () => `${name} does not listen:\n${output}`,
        exited,
      );
  } catch (error) {
    await stop();
    throw error;
  }
  return { output: () => output, stop };
}

function nginxArgs(folder: string, places: Places): string[] {
  const file = path.join(folder, 'nginx.conf');
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((use) => `${use}_temp_path ${folder}/${use};`);
  const site = withPlaces(read('docs/proxies/nginx.conf'), places)
    .replaceAll('listen 443 ', `listen 127.0.0.1:${places.ports.dashboard} `)
    .replaceAll('listen 8443 ', `listen 127.0.0.1:${places.ports.other} `)
    .replaceAll('/etc/ssl/svc/fullchain.pem', places.certificate)
    .replaceAll('/etc/ssl/svc/privkey.pem', places.key);
  const http = `http { access_log off; ${temporary.join(' ')}\n${site}\n}`;
  writeFileSync(file, `daemon off; master_process off; pid ${folder}/pid; error_log stderr warn; events {}\n${http}\n`);
  return ['-p', folder, '-c', file, '-e', 'stderr'];
}

function caddyArgs(folder: string, places: Places): string[] {
  const file = path.join(folder, 'Caddyfile');
  const { host, ports, certificate, key } = places;
  const own = `{\n\tbind 127.0.0.1\n\ttls ${certificate} ${key}`;
  const site = withPlaces(read('docs/proxies/Caddyfile'), places)
    .replace(`\n${host} {`, `\n${host}:${ports.dashboard} ${own}`)
    .replace(`\n${host}:8443 {`, `\n${host}:${ports.other} ${own}`);
  writeFileSync(file, `{\n\tadmin off\n\tauto_https disable_redirects\n\tskip_install_trust\n}\n${site}`);
  return ['run', '--adapter', 'caddyfile', '--config', file];
}

const withPlaces = (text: string, { host, ports, behind }: Places): string =>
  text
    .replaceAll('https://svc.example.org/', `https://${host}:${ports.dashboard}/`)
    .replaceAll('svc.example.org', host)
    .replaceAll('127.0.0.1:3020', `127.0.0.1:${behind.dashboard}`)
    .replaceAll('127.0.0.1:3023', `127.0.0.1:${behind.core}`)
    .replaceAll('127.0.0.1:9000', `127.0.0.1:${behind.other}`);

const answers = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect({ host: '127.0.0.1', port });
    socket.once('connect', () => (socket.destroy(), resolve(true)));
    socket.once('error', () => resolve(false));
  });
