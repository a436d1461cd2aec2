import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Instance } from '@svc/contract/instance.ts';
import { dataPaths } from '@svc/service-kit/config/data-dir.ts';
import { loadSettings, type Settings } from '@svc/service-kit/config/settings.ts';
import { exitCodes } from '@svc/service-kit/exit-codes.ts';
import { CliError } from '../cli-error.ts';
import { addConnector, type AddDeps } from '../connector/add-connector.ts';
import { askTerminal } from '../connector/ask-fields.ts';
import { awaitStart, startFault } from '../connector/await-start.ts';
import { inviteOwner } from '../connector/invite-owner.ts';
import { configConnector } from '../connector/config-connector.ts';
import { createConnectorApi } from '../connector/connector-api.ts';
import type { AddRequest, ConfigRequest, ConnectorRequest, InstanceAction, NewRequest } from '../connector/connector-command.ts';
import { newConnector, testConnector } from '../connector/own-connector.ts';
import { pickInstance } from '../connector/pick-instance.ts';
import { renderConfig, renderConnector, renderConnectors, renderTypes, renderValue } from '../connector/render-connectors.ts';
import { showLogs } from '../connector/show-logs.ts';
import { createStyle, print, printError, quoted, widthOf, type Style } from '../terminal.ts';
import { openOutputMask } from '../output-mask.ts';
import { coreUrl } from '../service-urls.ts';
import { createTrustApi } from '../trust/trust-api.ts';
import { repositoryRoot } from '../repository-root.ts';
import { createSecretInput } from '../vault/secret-input.ts';

const lookMs = 250;
const followMs = 1000;

type Json = { json?: boolean };
type Asked = Exclude<ConnectorRequest, { action: 'test' }>;
type Named = Json & { name: string };
type Deps = AddDeps & { settings: Settings; style: Style };

/** Lists or changes the connectors of the manager. */
export async function connector(request: ConnectorRequest): Promise<number> {
  if (request.action === 'test') return testConnector({ name: request.name, parent: ownConnectors() });
  const settings = loadSettings(repositoryRoot);
  await perform(request, {
    settings,
    api: createConnectorApi(settings),
    style: createStyle(process.stdout),
    input: createSecretInput(),
    ask: askTerminal,
    inviteOwner: (instance) => inviteOwner(createTrustApi(coreUrl(settings)), instance),
    say: printError,
    pause: () => sleep(lookMs),
  });
  return exitCodes.ok;
}

function perform(request: Asked, deps: Deps): Promise<void> {
  switch (request.action) {
    case 'list':
      return list(request, deps);
    case 'add':
      return add(request, deps);
    case 'config':
      return config(request, deps);
    case 'logs':
      return logs(request, deps);
    case 'remove':
      return remove(request, deps);
    case 'start':
    case 'stop':
    case 'restart':
      return act(request.action, request, deps);
  }
}

async function list({ json }: Json, { api, style }: Deps): Promise<void> {
  const instances = await api.list();
  if (json === true) return print(toJson({ instances }));
  print(renderConnectors(instances, style, await api.types(), widthOf(process.stdout)));
}

async function add(asked: AddRequest, deps: Deps): Promise<void> {
  if (asked.type !== null) return show(await addConnector(deps, asked.type, asked), asked, deps);
  const types = await deps.api.types();
  print(asked.json === true ? toJson({ types }) : renderTypes(types, deps.style));
}

async function config(asked: ConfigRequest, deps: Deps): Promise<void> {
  const { name, set, unset, secrets, get, json } = asked;
  const before = await find(name, deps);
  const isChange = Object.keys(set).length + unset.length + secrets.length > 0;
  const after = isChange ? await configConnector(deps, before, asked) : before;
  if (get !== undefined) return print(json === true ? toJson(valueOf(after, get)) : renderValue(valueOf(after, get)));
  if (isChange) return show(after, asked, deps);
  print(json === true ? toJson(after.config) : renderConfig(after.config));
}

async function logs(asked: Extract<Asked, { action: 'logs' }>, deps: Deps): Promise<void> {
  const { id } = await find(asked.name, deps);
  const mask = openOutputMask({ settings: deps.settings });
  await showLogs({ ...deps, mask, print, pause: () => sleep(followMs).then(() => true) }, { ...asked, id });
}

async function remove({ name, json }: Named, deps: Deps): Promise<void> {
  const { id } = await find(name, deps);
  await deps.api.remove(id);
  print(json === true ? toJson({ ok: true, id }) : `${id} is removed.`);
}

async function act(action: InstanceAction, asked: Named, deps: Deps): Promise<void> {
  const { id, pid } = await find(asked.name, deps);
  const instance = await awaitStart(deps, await deps.api.act(id, action), action === 'restart' ? pid : null);
  const fault = startFault(instance);
  if (fault !== null) throw fault;
  show(instance, asked, deps);
}

const find = async (name: string, { api }: Deps): Promise<Instance> => pickInstance(await api.list(), name);

const show = (instance: Instance, { json }: Json, { style }: Deps): void =>
  print(json === true ? toJson(instance) : renderConnector(instance, style));

/** Creates a connector from the template: the operator's own, or a built-in one when `dir` is the `connectors` folder of this repository. */
export async function newFromTemplate({ name, dir }: NewRequest): Promise<number> {
  const parent = dir === undefined ? ownConnectors() : path.resolve(dir);
  const folder = newConnector({ name, parent, root: repositoryRoot });
  print(folder);
  printError(
    [
      `It works as it is. Its tests:`,
      parent === path.join(repositoryRoot, 'connectors')
        ? `npm install && ./svc test connectors/${name}`
        : `./svc connector test ${dir === undefined ? name : quoted(folder)}`,
      `Change src/ into your channel; README.md there says what is where.`,
      'While the service runs, this adds it:',
      `./svc connector add ${name}`,
    ].join('\n'),
  );
  return exitCodes.ok;
}

const ownConnectors = (): string => dataPaths(loadSettings(repositoryRoot).dataDir).connectors;

const toJson = (value: unknown): string => JSON.stringify(value, null, 2);

function valueOf({ id, config }: Instance, field: string): unknown {
  if (Object.hasOwn(config, field)) return config[field];
  throw new CliError(`${id} has no setting "${field}".`, {
    why: `It has ${Object.keys(config).join(', ') || 'none'}.`,
    run: `./svc connector config ${id}`,
  });
}
