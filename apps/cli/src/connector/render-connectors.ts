import type { BoundlessPermission, ConnectorMeta, ConnectorPermissions } from '@svc/contract/connector-meta.ts';
import type { Instance } from '@svc/contract/instance.ts';
import { silence } from './silence.ts';
import { usualWidth, visibleLine, wrap, type Style } from '../terminal.ts';

/** All instances for a person: the state and address of each. */
export function renderConnectors(
  instances: readonly Instance[],
  style: Style,
  types: readonly ConnectorMeta[] = [],
  columns = usualWidth,
): string {
  if (instances.length === 0) return 'There are no connectors yet. "./svc connector add" shows what there is to add.';
  const width = Math.max(...instances.map(({ id }) => id.length));
  const lines = instances.map((instance) => renderConnector(instance, style, width, columns));
  const permissions = instances.flatMap((instance) => permissionLine(instance, style, types));
  return [...lines, ...(permissions.length === 0 ? [] : ['', ...permissions])].join('\n');
}

/** The unusual permissions of an instance, so that the operator can decide whether to keep it. */
function permissionLine({ id, type }: Instance, style: Style, types: readonly ConnectorMeta[]): string[] {
  const asked = describePermissions(types.find((meta) => meta.type === type)?.permissions);
  return asked === null ? [] : [style.yellow(`${id} ${asked}.`)];
}

const doing: Readonly<Record<BoundlessPermission, string>> = {
  'child-process': 'starts programs',
  worker: 'starts threads',
  addons: 'loads native code',
  sqlite: 'opens SQLite files',
};

/** The permissions that a type requests beyond the usual, as text; null when there are none. */
function describePermissions({ allow = [], read = [], write = [], sessions }: ConnectorPermissions = {}): string | null {
  const asked = [
    ...(allow.length === 0 ? [] : [`${allow.map((each) => doing[each]).join(', ')}: it can do everything that this user can do`]),
    ...(read.length === 0 ? [] : [`reads what ${read.join(', ')} names`]),
    ...(write.length === 0 ? [] : [`writes to what ${write.join(', ')} names`]),
    ...(sessions === 'every' ? ['shows an owner the conversations of all channels'] : []),
  ];
  return asked.length === 0 ? null : asked.join('; ');
}

/** One instance on a line, with its problem below. `columns`: width of the terminal. */
export function renderConnector(instance: Instance, style: Style, width = instance.id.length, columns = usualWidth): string {
  const { id, type, name, url, restarts, reason } = instance;
  const facts = [
    stateOf(instance, style),
    ...(name === id ? [] : [`"${visibleLine(name)}"`]),
    ...(type === id ? [] : [visibleLine(type)]),
    ...(url === null ? [] : [visibleLine(url)]),
    ...(restarts > 0 ? [`restarted ${restarts === 1 ? 'once' : `${restarts} times`}`] : []),
  ];
  const why = reason === null ? [] : wrap(visibleLine(reason), columns - 4);
  return [`${id.padEnd(width)}  ${facts.join(', ')}`, ...why.map((line) => `    ${style.dim(line)}`)].join('\n');
}

function stateOf(instance: Instance, style: Style): string {
  const { status, healthy, reason } = instance;
  const why = reason == null ? ` (${silence(instance)})` : '';
  if (status === 'running') return healthy ? style.green('running') : style.yellow(`running, not well${why}`);
  if (status === 'failed') return style.red('failed');
  if (status === 'stopped') return style.dim('stopped');
  return style.yellow(status === 'backoff' ? 'waiting for a restart' : status);
}

/** The types that can be added, with what each needs. */
export function renderTypes(types: readonly ConnectorMeta[], style: Style): string {
  const width = Math.max(0, ...types.map(({ type }) => type.length));
  return [
    style.bold('Connector types:'),
    '',
    ...types.flatMap(({ type, displayName, configSchema, permissions }) => {
      const needs = (configSchema.required ?? []).join(', ');
      const asked = describePermissions(permissions);
      return [
        `  ${type.padEnd(width)}  ${visibleLine(displayName)}${needs === '' ? '' : style.dim(` (needs ${needs})`)}`,
        ...(asked === null ? [] : [`  ${''.padEnd(width)}  ${style.yellow(asked)}`]),
      ];
    }),
    '',
    '  ./svc connector add TYPE     adds one',
  ].join('\n');
}

/** The settings of an instance, one a line, in the form of `--set`. */
export function renderConfig(config: Record<string, unknown>): string {
  return Object.entries(config)
    .map(([name, value]) => `${name}=${renderValue(value)}`)
    .join('\n');
}

export const renderValue = (value: unknown): string => visibleLine(typeof value === 'string' ? value : JSON.stringify(value));
