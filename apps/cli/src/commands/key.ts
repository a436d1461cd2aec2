import type { CliSettings } from '@svc/service-kit/config/process-settings.ts';
import { loadSettings } from '@svc/service-kit/config/settings.ts';
import { exitCodes } from '@svc/service-kit/exit-codes.ts';
import { createKey, revokeKey } from '../key/change-keys.ts';
import { keyPlaces, keyType, readBudgets } from '../key/key-api.ts';
import type { KeyRequest } from '../key/key-command.ts';
import { readKeys } from '../key/keys-file.ts';
import { renderCreated, renderKeys, renderRevoked, type ListedKey } from '../key/render-keys.ts';
import { repositoryRoot } from '../repository-root.ts';
import { coreUrl } from '../service-urls.ts';
import { createStyle, print } from '../terminal.ts';
import { createTrustApi } from '../trust/trust-api.ts';

/** What a command gives: the facts for a program, the text for a person. */
type Shown = { body: unknown; text: string; code?: number };

/** Lists, creates or revokes keys of the chat completions API. */
export async function key(request: KeyRequest): Promise<number> {
  const { body, text, code = exitCodes.ok } = await perform(loadSettings(repositoryRoot), request);
  print(request.json === true ? JSON.stringify(body, null, 2) : text);
  return code;
}

async function perform(settings: CliSettings, request: KeyRequest): Promise<Shown> {
  const style = createStyle(process.stdout);
  if (request.action === 'list') {
    const keys = await listKeys(settings, request.connector);
    return { body: { keys }, text: renderKeys(keys, style) };
  }
  if (request.action === 'create') {
    const body = await createKey(settings, request);
    return { body, text: renderCreated(body, style) };
  }
  const body = await revokeKey(settings, request);
  return { body, text: renderRevoked(body, style), code: body.effective ? exitCodes.ok : exitCodes.failed };
}

async function listKeys(settings: CliSettings, connector: string | undefined): Promise<ListedKey[]> {
  const places = await keyPlaces(settings, connector);
  const { principals } = await createTrustApi(coreUrl(settings)).principals();
  const budgets = await readBudgets(settings);
  const personOf = (name: string) =>
    principals.find(({ identifiers }) => identifiers.some(({ surface, value }) => surface === keyType && value === name))?.key ??
    null;
  return places.flatMap(({ instance, file }) =>
    readKeys(file).map(({ key: secret, identity }) => ({
      name: identity,
      ending: secret.length < 20 ? '' : secret.slice(-4),
      for: personOf(identity),
      connector: instance.id,
      budget: budgets.find(({ value }) => value === identity) ?? null,
    })),
  );
}
