import type { EngineView, OfferedModelServer } from '@svc/contract/engine.ts';
import { usualWidth, visibleLine, wrap, type Style } from '../terminal.ts';

/** All engines for a person: the state and settings of each. `columns`: width of the terminal. */
export function renderEngines(engines: readonly EngineView[], style: Style, columns = usualWidth): string {
  const width = Math.max(...engines.map(({ id }) => id.length));
  return engines.flatMap((engine) => block(engine, width, style, columns)).join('\n');
}

/** The model servers of this machine and how to connect each; empty when there is none. */
export function renderModelServers(servers: readonly OfferedModelServer[], style: Style): string {
  const width = Math.max(0, ...servers.map(({ name }) => name.length));
  const lines = servers.flatMap(({ name, base_url, models, note, connect }) => [
    `  ${style.bold(name.padEnd(width))}  ${base_url}  ${visibleLine(someOf(models))}`,
    `    ${style.dim(note)}${connect === null ? '' : ` Run: ${connect}`}`,
  ]);
  return lines.length === 0 ? '' : ['', 'Model servers:', ...lines].join('\n');
}

const mostModels = 5;

const someOf = (models: readonly string[]): string =>
  [...models.slice(0, mostModels), ...(models.length > mostModels ? [`and ${models.length - mostModels} more`] : [])].join(', ');

/** One engine after its settings were changed. */
export const renderEngine = (engine: EngineView, style: Style, columns = usualWidth): string =>
  block(engine, engine.id.length, style, columns).join('\n');

function block(engine: EngineView, width: number, style: Style, columns: number): string[] {
  const paint = engine.ready ? style.green : engine.installed ? style.yellow : style.dim;
  const state = engine.ready ? 'ready' : engine.installed ? 'not ready' : 'not installed';
  const facts = [state, ...(engine.default ? ['default'] : []), ...settingsOf(engine)];
  const notes = [engine.reason, ...(engine.update_fault === null ? [] : [engine.update_fault]), ...installNote(engine)];
  const warnings = [engine.notice, engine.warning].filter((text) => text !== undefined && text !== null);
  return [
    `${engine.default ? style.bold('*') : ' '} ${paint(engine.id.padEnd(width))}  ${visibleLine(facts.join(', '))}`,
    ...notes.flatMap((note) => wrap(visibleLine(note), columns - 4)).map((line) => `    ${style.dim(line)}`),
    ...warnings.flatMap((note) => wrap(visibleLine(note), columns - 4)).map((line) => `    ${style.yellow(line)}`),
  ];
}

function settingsOf(engine: EngineView): string[] {
  const { model, version, latest_version, base_url, auto_update, billed, connection, key_present } = engine;
  return [
    ...(version === null ? [] : [`version ${version}`]),
    ...(latest_version === null || latest_version === version ? [] : [`newest ${latest_version}`]),
    ...(model === null ? [] : [`model ${model}`]),
    ...(base_url === null ? [] : [base_url]),
    ...(connection === 'api_key' ? ['by API key'] : key_present ? ['has an API key that is not used'] : []),
    ...(billed ? ['every turn is billed'] : []),
    ...(auto_update ? ['updates automatically'] : []),
  ];
}

const installNote = ({ install }: EngineView): string[] =>
  install === null || install.state === 'done'
    ? []
    : [`${install.state === 'running' ? 'being installed' : 'could not be installed'}: ${install.step}`];
