import type { Secret } from '@svc/service-kit/secret.ts';
import { callVault, type VaultRequest } from '@svc/service-kit/vault/vault-call.ts';
import { CliError, commandIn } from '../cli-error.ts';

/** Deriving a key from a passphrase takes its time on purpose. */
const timeoutMs = 30_000;

export type AskVault = <T>(path: string, request?: Pick<VaultRequest, 'method' | 'body'>) => Promise<T>;

/** Nothing that is a vault answers. What is to be done depends on whose it is. */
export class VaultAway extends CliError {
  constructor(url: string, why: string) {
    super('the vault does not answer.', { why: `At ${url}: ${why}.`, run: './svc status' });
  }
}

/** What was mistyped is typed again; a name that is not there is looked up. */
const nextCommands: [path: RegExp, command: string][] = [
  [/^init$/, './svc vault init --write-env'],
  [/^unseal$/, './svc vault unseal'],
  [/^passphrase$/, './svc vault passphrase'],
  [/^credentials$/, './svc vault put --help'],
  [/^credentials\//, './svc vault list'],
  [/^agents/, './svc vault agent'],
];

const nextCommand = (path: string, error: string): string =>
  (error === 'unauthorized' ? undefined : nextCommands.find(([asked]) => asked.test(path))?.[1]) ?? './svc vault status';

/** Questions to the vault as its administrator. @throws CliError for a refusal and for no answer. */
export const createAskVault =
  (url: string, adminKey: Secret | null): AskVault =>
  async <T>(path: string, request: Pick<VaultRequest, 'method' | 'body'> = {}): Promise<T> => {
    const reply = await callVault<T>(`${url}/v1/${path}`, { ...request, adminKey, timeoutMs });
    if (reply.is === 'ok') return reply.body;
    if (reply.is === 'unreachable') throw new VaultAway(url, reply.why);
    const { error, message } = reply.error;
    const why = error === 'unauthorized' ? 'SVC_VAULT_ADMIN_KEY is not the admin key of this vault.' : message;
    throw new CliError('the vault refused the request.', { why, run: commandIn(why) ?? nextCommand(path, error) });
  };
