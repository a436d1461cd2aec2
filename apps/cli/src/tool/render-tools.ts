import type {
  BuiltInToolServer,
  ToolServerDocument,
  ToolServerEntry,
  ToolServerImport,
  ToolServerState,
} from '@svc/contract/tool-server.ts';
import { duration } from '@svc/service-kit/words.ts';
import { visibleLine, type Style } from '../terminal.ts';

type Entry = ToolServerEntry | BuiltInToolServer;

/** The registered tool servers, for a person. */
export function renderTools({ servers, states }: ToolServerDocument, style: Style, now = Date.now()): string {
  const entries = Object.entries(servers);
  const width = Math.max(0, ...entries.map(([name]) => name.length));
  return [
    style.bold('Tool servers:'),
    '',
    ...entries.flatMap(([name, entry]) => block(name.padEnd(width), entry, style, stateNote(states[name], style, now))),
    '',
    '  ./svc tool toggle NAME   switches one off, or on again, for the next turn',
    '  ./svc tool test NAME     connects to one and lists its tools',
    '  ./svc tool add --help    shows how to add one',
  ].join('\n');
}

function block(name: string, entry: Entry, style: Style, note: string[]): string[] {
  const state = entry.enabled ? style.green('on ') : style.yellow('off');
  const who = entry.safe ? 'full and read' : 'full';
  const description = entry.description === undefined ? [] : [`      ${style.dim(visibleLine(entry.description))}`];
  return [`  ${state}  ${name}  ${visibleLine(placeOf(entry))}  ${style.dim(`(for: ${who})`)}`, ...description, ...note];
}

/** The result of its last use; empty when it has not been used yet. */
function stateNote(state: ToolServerState | undefined, style: Style, now: number): string[] {
  if (state === undefined || state.state === 'untried') return [];
  if (state.state === 'there') return [`      ${style.dim(`last answered ${ago(now - state.at)}`)}`];
  const last = state.last_there_at === null ? '' : ` It last answered ${ago(now - state.last_there_at)}.`;
  return [`      ${style.yellow(visibleLine(`${state.reason} (${ago(now - state.at)})${last}`))}`];
}

const ago = (ms: number): string => `${duration(ms)} ago`;

function placeOf(entry: Entry): string {
  if (entry.type === 'built-in') return 'part of the service';
  return entry.type === 'http' ? entry.url : [entry.command, ...entry.args].map(quoted).join(' ');
}

const quoted = (word: string): string => (/^[\w@%+=:,./-]+$/.test(word) ? word : JSON.stringify(word));

/** The result for each server of an imported file, for a person. */
export function renderImport({ imported, skipped }: ToolServerImport, style: Style): string {
  const lines = [
    ...imported.flatMap(({ name, as, enabled, replaced, warnings }) => [
      `  ${style.green('imported')} ${visibleLine(name)}${as === name ? '' : ` as ${as}`}${replaced ? ', replacing the earlier one' : ''}${enabled ? '' : ', switched off'}`,
      ...warnings.map((warning) => `           ${style.yellow(visibleLine(warning))}`),
    ]),
    ...skipped.map(({ name, reason }) => `  ${style.yellow('skipped')}  ${visibleLine(name)}: ${visibleLine(reason)}`),
  ];
  return lines.length === 0 ? 'There are no tool servers in it.' : lines.join('\n');
}
