import { http, type ServerResponse } from '@svc/service-kit/builtin.ts';
import { Secret } from '@svc/service-kit/secret.ts';
import { createVaultClient, type VaultClient } from '@svc/service-kit/vault/create-vault-client.ts';
import { listen } from './listen.ts';

/** A small vault: the same secret under every name, without checking keys. It starts sealed. */
export type VaultServer = {
  url: string;
  client: VaultClient;
  open(): void;
  seal(): void;
  /** How often a secret was requested. */
  asked(): number;
  close(): Promise<void>;
};

export async function startVaultServer(value: string, port = 0): Promise<VaultServer> {
  let sealed = true;
  let asked = 0;
  const watchers = new Set<ServerResponse>();
  const tell = (watcher: ServerResponse) =>
    watcher.write(`event: state\ndata: ${JSON.stringify({ initialized: true, sealed })}\n\n`);
  const answers: Record<string, () => object> = {
    'GET /v1/status': () => ({ initialized: true, sealed }),
    'POST /v1/tokens': () => ({ ok: true, token: 'vtoken_1', name: 'NAME', expires_at: 1 }),
    'POST /v1/redeem': () => ({ ok: true, name: 'NAME', version: 1, value }),
  };
  const server = http.createServer((request, response) => {
    const route = `${request.method} ${request.url}`;
    if (route === 'GET /v1/watch') {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      watchers.add(response.on('close', () => watchers.delete(response)));
      return void tell(response);
    }
    if (route === 'POST /v1/tokens') asked++;
    const isRefused = sealed && route !== 'GET /v1/status';
    const refusal = { ok: false, error: 'unavailable', message: 'The vault is sealed.', request_id: 'r', sealed: true };
    response.writeHead(isRefused ? 503 : 200, { 'content-type': 'application/json' });
    request.resume().on('end', () => response.end(JSON.stringify(isRefused ? refusal : answers[route]?.())));
  });
  const { url, close } = await listen(server, port);
  const change = (to: boolean) => {
    sealed = to;
    for (const watcher of watchers) tell(watcher);
  };
  return {
    url,
    close,
    client: createVaultClient({ url, agentKey: new Secret('vagent_x'), adminKey: null }),
    open: () => change(false),
    seal: () => change(true),
    asked: () => asked,
  };
}
