import { fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { requestJson } from '@svc/service-kit/http/json-client.ts';
import { repositoryRoot } from '@svc/service-kit/run-service.ts';

/** Starts a vault in a process of its own, as the supervisor would; resolves when it reports that it is ready. */
export async function startVaultProcess(dataDir: string, port: number, env: Record<string, string> = {}) {
  const child = fork(path.join(repositoryRoot, 'apps/vault/src/main.ts'), {
    env: {
      PATH: process.env['PATH'],
      NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
      HOME: dataDir,
      SVC_DATA_DIR: dataDir,
      SVC_VAULT_PORT: String(port),
      SVC_LOG_LEVEL: 'trace',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream?.setEncoding('utf8').on('data', (text: string) => (output += text));
  await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(([code]) =>
      Promise.reject(new Error(`the vault ended with ${code} before it was ready: ${output}`)),
    ),
  ]);
  return { child, output: () => output };
}

/** One request; null when the vault does not answer. */
export const askProcess = async (
  port: number,
  route: string,
  { body, adminKey, agentKey }: { body?: unknown; adminKey?: string; agentKey?: string } = {},
) => {
  const [method, url] = route.split(' ');
  const headers: Record<string, string> = {
    ...(adminKey !== undefined && { 'x-admin-key': adminKey }),
    ...(agentKey !== undefined && { authorization: `Bearer ${agentKey}` }),
  };
  const request = { method, body, headers, timeoutMs: 20_000 };
  return requestJson<Record<string, unknown>>(`http://127.0.0.1:${port}${url}`, request).catch(() => null);
};
