import type { SecretList, SecretRemoved } from '@svc/contract/secret.ts';
import { maxSecretLength, vaultNamePattern, type VaultSecretStored } from '@svc/contract/vault.ts';
import { loadSettings, type Settings } from '@svc/service-kit/config/settings.ts';
import { exitCodes } from '@svc/service-kit/exit-codes.ts';
import { readSecretsFile, writeSecret } from '@svc/service-kit/secrets/secrets-file.ts';
import { ServiceError } from '@svc/service-kit/service-error.ts';
import { runsVault } from '@svc/service-kit/vault/runs-vault.ts';
import { CliError } from '../cli-error.ts';
import { repositoryRoot } from '../repository-root.ts';
import { renderFile, renderSecrets } from '../secret/render-secrets.ts';
import type { SecretRequest } from '../secret/secret-command.ts';
import { askCore } from '../service-client.ts';
import { coreUrl } from '../service-urls.ts';
import { refusal, showAnswer } from '../show-answer.ts';
import { createStyle, print, visibleLine } from '../terminal.ts';
import { createSecretInput, given } from '../vault/secret-input.ts';

/** The core may run an external program for names that are stored nowhere else. */
const listMs = 20_000;

/** Lists the names of secrets, or sets or removes one. Values are never printed. */
export async function secret(request: SecretRequest): Promise<number> {
  const settings = loadSettings(repositoryRoot);
  switch (request.action) {
    case 'list':
      return list(settings, request.json === true);
    case 'set':
      return set(settings, request);
    case 'remove':
      return remove(settings, request.name, request.json === true);
  }
}

/** The secrets of all stores, from the service; when it is not running, the names in the secrets file. */
async function list(settings: Settings, json: boolean): Promise<number> {
  const style = createStyle(process.stdout);
  const answer = await whereItRuns(() => askCore<SecretList>(`${coreUrl(settings)}/v2/secrets`, { timeoutMs: listMs }));
  if (answer !== null) {
    const help = { what: 'the secrets cannot be listed.', run: './svc doctor' };
    if (!answer.ok) throw refusal(answer.body, help);
    const names = answer.body.secrets.filter(({ places }) => places.length > 0).map(({ name }) => name);
    print(json ? JSON.stringify({ names, ...answer.body }, null, 2) : renderSecrets(answer.body, style));
    return exitCodes.ok;
  }
  const file = settings.secretsFile;
  const names = Object.keys(await readFile(file)).toSorted();
  print(json ? JSON.stringify({ names, file }, null, 2) : renderFile(file, names, style));
  return exitCodes.ok;
}

async function set(settings: Settings, request: Extract<SecretRequest, { action: 'set' }>): Promise<number> {
  const { name, minTrust } = request;
  if (!new RegExp(vaultNamePattern).test(name)) {
    throw new CliError(`"${visibleLine(name)}" is not a valid name for a secret.`, {
      why: 'It takes letters, digits, "_", ".", ":", "/" and "-", at most 128.',
    });
  }
  const value = given(
    await createSecretInput().value(`Value of ${name} (it is not shown): `),
    'value',
    `./svc secret set ${name}`,
  );
  if (value.length > maxSecretLength)
    throw new CliError('the value is too long.', { why: `A secret can have at most ${maxSecretLength} characters.` });
  const body = { name, value, ...(minTrust === undefined ? {} : { min_trust: minTrust }) };
  const answer = await askCore<VaultSecretStored>(`${coreUrl(settings)}/v2/vault/secrets`, { body });
  return showAnswer(
    answer,
    request,
    { what: 'the secret was not stored.', run: './svc doctor' },
    ({ stored_in }) => `${name} is kept in the ${stored_in === 'vault' ? 'vault' : 'secrets file, which only you can read'}.`,
  );
}

async function remove({ secretsFile, ...settings }: Settings, name: string, json: boolean): Promise<number> {
  const path = `/v2/secrets/${encodeURIComponent(name)}?from=file`;
  const answer = await whereItRuns(() => askCore<SecretRemoved>(coreUrl(settings) + path, { method: 'DELETE' }));
  if (answer === null) {
    if (!Object.hasOwn(await readFile(secretsFile), name)) throw missing(settings, secretsFile, name);
    await writeSecret(secretsFile, name, null);
  } else if (!answer.ok) {
    if (answer.body.error === 'not_found') throw missing(settings, secretsFile, name);
    throw refusal(answer.body, { what: 'the secret was not removed.', run: './svc secret' });
  }
  print(
    json
      ? JSON.stringify({ ok: true, name })
      : `${visibleLine(name)} is removed. Running programs that use it keep it until a restart.`,
  );
  return exitCodes.ok;
}

const missing = (settings: Parameters<typeof runsVault>[0], file: string, name: string) =>
  new CliError(`there is no secret "${visibleLine(name)}" in ${file}.`, {
    why: runsVault(settings) ? 'The vault may have it.' : undefined,
    run: runsVault(settings) ? `./svc vault remove ${name}` : './svc secret',
  });

/** Null when the service is not running: then no other process changes the file. */
async function whereItRuns<T>(ask: () => Promise<T>): Promise<T | null> {
  try {
    return await ask();
  } catch (error) {
    const { code } = ((error as Error).cause ?? {}) as NodeJS.ErrnoException;
    if (error instanceof CliError && code === 'ECONNREFUSED') return null;
    throw error;
  }
}

/** @throws CliError when the file cannot be used; its content is never quoted */
async function readFile(file: string): Promise<Record<string, unknown>> {
  try {
    return await readSecretsFile(file);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    throw new CliError('the secrets file cannot be used.', { why: error.message, cause: error });
  }
}
