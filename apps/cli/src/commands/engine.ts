import type { EngineView } from '@svc/contract/engine.ts';
import { readEnv } from '@svc/service-kit/config/env-file.ts';
import { loadSettings } from '@svc/service-kit/config/settings.ts';
import { exitCodes } from '@svc/service-kit/exit-codes.ts';
import { CliError } from '../cli-error.ts';
import { coreUrl } from '../service-urls.ts';
import { createEngineApi, type EngineApi } from '../engine/engine-api.ts';
import type { EngineAction, EngineOptions } from '../engine/engine-command.ts';
import { installEngine } from '../engine/install-engine.ts';
import { logIn } from '../engine/log-in.ts';
import { renderEngine, renderEngines, renderModelServers } from '../engine/render-engines.ts';
import { testFailure } from '../engine/failure-help.ts';
import { repositoryRoot } from '../repository-root.ts';
import { createStyle, print, printError, visibleLine, widthOf } from '../terminal.ts';
import { createSecretInput } from '../vault/secret-input.ts';

type Asked = { api: EngineApi; id: string; words: readonly string[]; options: EngineOptions };

/** Shows the engines and changes their settings, which apply from the next turn on without a restart. */
export async function engine(
  action: EngineAction,
  id: string | null,
  words: readonly string[],
  options: EngineOptions,
): Promise<number> {
  const api = createEngineApi(coreUrl(loadSettings(repositoryRoot)));
  if (action === 'list' || id === null) return list(api, options);
  await run[action]({ api, id, words, options });
  return exitCodes.ok;
}

async function list(api: EngineApi, { json }: EngineOptions): Promise<number> {
  const { engines, model_servers } = await api.all();
  const style = createStyle(process.stdout);
  print(
    json === true
      ? JSON.stringify({ engines, model_servers }, null, 2)
      : [renderEngines(engines, style, widthOf(process.stdout)), renderModelServers(model_servers, style)]
          .filter(Boolean)
          .join('\n'),
  );
  return exitCodes.ok;
}

const run: Record<Exclude<EngineAction, 'list'>, (asked: Asked) => Promise<void>> = {
  async install({ api, id }) {
    show(await installEngine(api, id, printError));
  },

  async rollback({ api, id }) {
    show((await api.rollback(id)).engine);
  },

  async test({ api, id }) {
    const answer = await api.test(id);
    if (!answer.ok) throw testFailure(id, answer.body);
    const { text, ms, model } = answer.body;
    print(
      `${id}${model === null ? '' : ` (${visibleLine(model)})`} answered in ${(ms / 1000).toFixed(1)} s: ${visibleLine(text)}`,
    );
  },

  async login({ api, id, words }) {
    await logIn(await api.view(id), readEnv(repositoryRoot), words);
    show((await api.refresh(id)).engine);
  },

  async default({ api, id }) {
    if (id === 'none') {
      const { id: used, why } = await api.clearDefault();
      return print(`No engine is the default; ${used} answers. ${visibleLine(why)}`);
    }
    showChanged(await api.makeDefault(id));
  },

  async model({ api, id, words: [value] }) {
    if (value === undefined) return listModels(await api.view(id));
    show((await api.set(id, { model: value === 'none' ? null : value })).engine);
  },

  async key({ api, id, options }) {
    if (options.remove === true) {
      const { engine: after, note } = await api.removeKey(id);
      show(after);
      if (typeof note === 'string') printError(note);
      return;
    }
    const { engine: after, stored_in } = await api.putKey(id, await readKey(id));
    show(after);
    printError(stored_in === 'vault' ? 'The key is in the vault.' : 'The key is in the secrets file, which only you can read.');
  },

  async 'auto-update'({ api, id, words: [value] }) {
    show((await api.set(id, { auto_update: value === 'on' })).engine);
  },

  async 'base-url'({ api, id, words: [value = 'none'] }) {
    const changed = await api.setBaseUrl(id, value === 'none' ? '' : value);
    showChanged(changed);
    const [first, ...others] = changed.models ?? [];
    if (first === undefined || changed.engine.model !== null) return;
    printError(
      `It uses ${visibleLine(first)}.${others.length > 0 ? ` Others: ${visibleLine(others.slice(0, 10).join(', '))}. Choose: ./svc engine model ${id} MODEL` : ''}`,
    );
  },
};

function showChanged({ engine: changed, warnings = [] }: { engine: EngineView; warnings?: string[] }): void {
  show(changed);
  for (const warning of warnings) printError(visibleLine(warning));
}

const show = (engineView: EngineView): void =>
  print(renderEngine(engineView, createStyle(process.stdout), widthOf(process.stdout)));

function listModels({ id, model, models }: EngineView): void {
  print(
    models.length === 0
      ? `${id} uses ${model ?? 'its own default'}. It names no models to choose from.`
      : [
          `${id} uses ${model ?? 'its own default'}. Choose one of these, or any other id:`,
          ...models.map((name) => `  ${name}`),
        ].join('\n'),
  );
}

/** Read from a pipe or a hidden prompt: every user of the machine could see an argument. */
async function readKey(id: string): Promise<string> {
  const key = (await createSecretInput().line(`API key for ${id} (it is not shown): `)).trim();
  if (key === '')
    throw new CliError('no key was given.', { why: 'Type it when asked, or pipe it in.', run: `./svc engine key ${id}` });
  return key;
}
