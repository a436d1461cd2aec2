import { maxSecretLength, vaultNamePattern, type VaultSecretStored } from '@svc/contract/vault.ts';
import { loadSettings, type Settings } from '@svc/service-kit/config/settings.ts';
import { exitCodes } from '@svc/service-kit/exit-codes.ts';
import { readSecretsFile, writeSecret } from '@svc/service-kit/secrets/secrets-file.ts';
import { ServiceError } from '@svc/service-kit/service-error.ts';
import { CliError } from '../cli-error.ts';
import { repositoryRoot } from '../repository-root.ts';
import type { SecretRequest } from '../secret/secret-command.ts';
import { askCore } from '../service-client.ts';
import { coreUrl } from '../service-urls.ts';
import { showAnswer } from '../show-answer.ts';
import { createStyle, print, visibleLine } from '../terminal.ts';
import { createSecretInput, given } from '../vault/secret-input.ts';
import { runsVault } from '../vault/vault-address.ts';

/** Lists the names of secrets, sets or removes one. No value is ever printed. */
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

async function list(settings: Settings, json: boolean): Promise<number> {
  const names = Object.keys(await readFile(settings.secretsFile)).toSorted();
  const style = createStyle(process.stdout);
  const text = [
    ...(names.length === 0 ? [`There are none in ${settings.secretsFile}.`] : names.map((name) => `  ${visibleLine(name)}`)),
    '',
    style.dim(runsVault(settings) ? 'Those of the vault: ./svc vault list' : '  ./svc secret set NAME   keeps one'),
  ];
  print(json ? JSON.stringify({ file: settings.secretsFile, names }, null, 2) : text.join('\n'));
  return exitCodes.ok;
}

async function set(settings: Settings, request: Extract<SecretRequest, { action: 'set' }>): Promise<number> {
  const { name, minTrust } = request;
  if (!new RegExp(vaultNamePattern).test(name)) {
    throw new CliError(`"${visibleLine(name)}" is no name for a secret.`, {
      why: 'It takes letters, digits, "_", ".", ":", "/" and "-", at most 128.',
    });
  }
  const value = given(
    await createSecretInput().value(`Value of ${name} (it is not shown): `),
    'value',
    `./svc secret set ${name}`,
  );
  if (value.length > maxSecretLength)
    throw new CliError('the value is too long.', { why: `A secret takes ${maxSecretLength} characters.` });
  const body = { name, value, ...(minTrust === undefined ? {} : { min_trust: minTrust }) };
  const answer = await askCore<VaultSecretStored>(`${coreUrl(settings)}/v2/vault/secrets`, { body });
  return showAnswer(
    answer,
    request,
    { what: 'the secret was not kept.', run: './svc doctor' },
    ({ stored_in }) => `${name} is kept in the ${stored_in === 'vault' ? 'vault' : 'secrets file, which only you can read'}.`,
  );
}

async function remove({ secretsFile, ...settings }: Settings, name: string, json: boolean): Promise<number> {
  if (!Object.hasOwn(await readFile(secretsFile), name)) {
    throw new CliError(`there is no secret "${visibleLine(name)}" in ${secretsFile}.`, {
      why: runsVault(settings) ? 'The vault may have it.' : undefined,
      run: runsVault(settings) ? `./svc vault remove ${name}` : './svc secret',
    });
  }
  await writeSecret(secretsFile, name, null);
  print(
    json
      ? JSON.stringify({ ok: true, name })
      : `${visibleLine(name)} is removed. What runs with it goes on until it is restarted.`,
  );
  return exitCodes.ok;
}

/** @throws CliError for a file that cannot be used; its text is never quoted. */
async function readFile(file: string): Promise<Record<string, unknown>> {
  try {
    return await readSecretsFile(file);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    throw new CliError('the secrets file cannot be used.', { why: error.message, cause: error });
  }
}
