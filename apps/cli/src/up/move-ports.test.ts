import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import path from 'node:path';
import { parseEnv } from 'node:util';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { expect, test } from 'vitest';
import { moveCommand, planMoves } from './move-ports.ts';

async function listen(port = 0): Promise<{ server: Server; port: number }> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => void server.once('error', reject).listen(port, '127.0.0.1', resolve));
  return { server, port: (server.address() as { port: number }).port };
}

test('new ports are free, distinct and not wanted by another process', async () => {
  const taken = await Promise.all([listen(), listen(), listen()]);
  const wanted = taken.map(({ port }, at) => ({ name: 'x', port, setting: `SVC_${at}_PORT` }));
  const others = new Set(wanted.flatMap(({ port }) => [port, port + 10, port + 20]));
  const moves = await planMoves('127.0.0.1', wanted, [...others]);
  const ports = moves.map(({ port }) => port);
  expect(new Set([...others, ...ports]).size).toBe(others.size + 3);
  const free = await Promise.all(ports.map((port) => listen(port)));
  for (const { server } of [...taken, ...free]) server.close();
});

const moves = [
  { setting: 'SVC_CORE_PORT', port: 3033 },
  { setting: 'SVC_MANAGER_PORT', port: 3034 },
];

test('a move appends to .env, even after a line without a line break', () => {
  const folder = temporaryFolder();
  const file = path.join(folder.path, '.env');
  writeFileSync(file, 'SVC_LOG_LEVEL=debug');
  execFileSync('sh', ['-c', `${moveCommand(moves, {})} true`], { cwd: folder.path });
  const read = parseEnv(readFileSync(file, 'utf8'));
  expect(read).toEqual({ SVC_LOG_LEVEL: 'debug', SVC_CORE_PORT: '3033', SVC_MANAGER_PORT: '3034' });
  folder.remove();
});

test('a setting of the environment, which takes precedence over .env, is moved there', () => {
  expect(moveCommand(moves, { SVC_CORE_PORT: '3023' })).toBe(
    "printf '\\nSVC_MANAGER_PORT=3034\\n' >>.env && export SVC_CORE_PORT=3033 &&",
  );
});
