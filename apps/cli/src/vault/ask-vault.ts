import type { Secret } from '@svc/service-kit/secret.ts';
import { callVault, type VaultRequest } from '@svc/service-kit/vault/vault-call.ts';
import { CliError, commandIn } from '../cli-error.ts';

/** Deriving a key from a passphrase is slow on purpose. */
const timeoutMs = 30_000;

export type AskVault = <T>(path: string, request?: Pick<VaultRequest, 'method' | 'body'>) => Promise<T>;

/** No vault answers. What to do depends on who runs it. */
export class VaultAway extends CliError {
  constructor(url: string, why: string) {
    super('the vault does not answer.', { why: `At ${url}: ${why}.`, run: './svc status' });
  }
}

/** The command that helps: a mistyped value is typed again, an unknown name is looked up. */
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

/** Requests to the vault as its administrator. @throws CliError for a refusal, and when nothing answers */
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
