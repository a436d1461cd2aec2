import { loadSettings } from '@svc/service-kit/config/settings.ts';
import { exitCodes } from '@svc/service-kit/exit-codes.ts';
import { createKeyApi, type KeyApi } from '../key/key-api.ts';
import type { KeyRequest } from '../key/key-command.ts';
import { renderCreated, renderKeys, renderRevoked } from '../key/render-keys.ts';
import { repositoryRoot } from '../repository-root.ts';
import { createStyle, print } from '../terminal.ts';

/** The result of a command: `body` for programs, `text` for people. */
type Shown = { body: unknown; text: string; code?: number };

/** Lists, creates or revokes keys of the chat completions API. */
export async function key(request: KeyRequest): Promise<number> {
  const { body, text, code = exitCodes.ok } = await perform(createKeyApi(loadSettings(repositoryRoot)), request);
  print(request.json === true ? JSON.stringify(body, null, 2) : text);
  return code;
}

async function perform(api: KeyApi, request: KeyRequest): Promise<Shown> {
  const style = createStyle(process.stdout);
  if (request.action === 'list') {
    const body = await api.list(request.connector);
    return { body, text: renderKeys(body, style) };
  }
  if (request.action === 'create') {
    const { name, for: person, budget, connector } = request;
    const body = await api.create({ name, for: person, month_usd: budget, connector });
    return { body, text: renderCreated(body, style) };
  }
  const body = await api.revoke(request.name, request.connector);
  return { body, text: renderRevoked(body, style), code: body.effective ? exitCodes.ok : exitCodes.failed };
}
